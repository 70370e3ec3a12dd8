/** A model whose calls of tools are caught where it writes them into its text. */

import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Model, ModelRequest, ModelResponse, Tool } from '../../index.ts'
import { withDigitsAsText } from '../../index.ts'
import { type Fits, type LeakedCall, nothingRead, type Reading, readEnd, readPiece } from './leaked-calls.rules.ts'

/** Whoever listens reads no call, and no piece of one; the answer has it among its calls, unless the model has made it as well. */
export const withoutLeaks =
  (tools: readonly Tool[]) =>
  (model: Model): Model => ({
    ...model,
    async call(request, { signal, onDelta }) {
      const fits = fitting(tools, request)
      let reading: Reading = nothingRead
      const tell = (text: string): void => {
        if (text !== '') onDelta({ kind: 'text', text })
      }
      const response = await model.call(request, {
        signal,
        onDelta(delta) {
          if (delta.kind !== 'text') return onDelta(delta)
          const { text, held } = readPiece(reading, delta.text, fits)
          reading = { held }
          tell(text)
        },
      })
      tell(readEnd(reading, fits).text)
      return withCalls(response, request, fits)
    },
  })

const withCalls = (response: ModelResponse, { messages }: ModelRequest, fits: Fits): ModelResponse => {
  const first = readPiece(nothingRead, response.text, fits)
  const rest = readEnd(first, fits)
  const text = first.text + rest.text
  const leaked = [...first.calls, ...rest.calls].filter((call) => !isMade(call, response))
  if (text === response.text) return response
  const calls = leaked.map(({ name, input }, index) => ({ callId: `leaked-${messages.length}-${index + 1}`, name, input: JSON.stringify(input) }))
  const all = [...response.calls, ...calls]
  return { ...response, text, calls: all, finish: all.length > 0 && !response.partial ? 'tool-calls' : response.finish }
}

const isMade = ({ name, input }: LeakedCall, { calls }: ModelResponse): boolean =>
  calls.some((call) => {
    try {
      return call.name === name && isDeepStrictEqual(JSON.parse(call.input === '' ? '{}' : withDigitsAsText(call.input)), input)
    } catch {
      return false
    }
  })

/** By the schema of its author, or as the model is told it. */
const fitting = (tools: readonly Tool[], request: ModelRequest): Fits => {
  const schemas = new Map(
    request.tools.map(({ name, inputSchema }) => [name, tools.find((tool) => tool.name === name)?.input ?? schemaOf(inputSchema)] as const),
  )
  return (name, input) => {
    try {
      return schemas.get(name)?.safeParse(input).success === true
    } catch {
      return false
    }
  }
}

const schemaOf = (inputSchema: Record<string, unknown>): z.ZodType => {
  try {
    return z.fromJSONSchema(inputSchema)
  } catch {
    return z.looseObject({})
  }
}
