/** `recorded()`: a model whose answers are kept, so that a test plays them again without it. */
import { definedOf } from '../contracts/defined.ts'
import { errorBody, RuntimeError } from '../contracts/errors.ts'
import type { Model, ModelDelta, ModelRequest, ModelResponse } from '../index.ts'
import { type CustomModel, createModels } from '../models/index.ts'
import { systemEnvironment } from '../runtime/index.ts'
import { hashOf } from '../tools/index.ts'
import { type Cassette, openCassette, type Recording } from './cassette.ts'

export type RecordedOptions = {
  /** A file, or an object that holds it. */
  cassette: string | Cassette
  /**
   * `record`: the model answers each call, and what the cassette held before is dropped. `replay`: it never answers, and a request that was not recorded is an
   * error. `auto`: it answers what was not recorded. Default: `auto`.
   */
  mode?: 'record' | 'replay' | 'auto'
  /** What tells requests apart, as plain JSON. Default: all but names of messages and calls, which differ from run to run. */
  hash?: (request: ModelRequest) => unknown
  /** Default: `recorded/model`. */
  ref?: string
}

/**
 * For `createRuntime({ models: { 'test/a': await recorded('anthropic/…', { cassette: 'a.json' }) } })`. Pieces of an answer come in the order in which they were
 * recorded, and errors of the provider too; a call that was cut off is not kept. Where a request was recorded more than once, the recordings are played one after
 * the other, and the last one for all that follow.
 * @param source a model, a script, or a reference such as `anthropic/…`; it is opened for the first call that it has to answer
 * @throws RuntimeError bad_request for what is no cassette, not_found
 */
export const recorded = async (
  source: CustomModel | string,
  { cassette, mode = 'auto', hash = whatCounts, ref = 'recorded/model' }: RecordedOptions,
): Promise<Model> => {
  if (!['record', 'replay', 'auto'].includes(mode))
    throw new RuntimeError('bad_request', `'${String(mode).slice(0, 40)}' is no mode of recorded()`, {
      field: 'mode',
      hint: 'write record, replay or auto',
    })
  const tape = await openCassette(cassette, { isNew: mode === 'record', isNeeded: mode === 'replay' })
  const played = new Map<string, number>()
  let opening: Promise<Model> | undefined
  const live = (): Promise<Model> => (opening ??= opened(source, ref))

  const replayed = (key: string, { signal, onDelta }: CallOptions): Promise<ModelResponse> | undefined => {
    const all = tape.find(key)
    const place = played.get(key) ?? 0
    const recording = all[Math.min(place, all.length - 1)]
    // An error that was played is no reason never to ask.
    const mayAsk = mode === 'auto' && place >= all.length && recording?.error !== undefined
    if (mode === 'record' || !recording || mayAsk) return undefined
    played.set(key, place + 1)
    return (async () => {
      // Never before `call` has returned.
      await Promise.resolve()
      const seen = { text: '', reasoning: '' }
      for (const chunk of recording.chunks) {
        if (signal.aborted) return { ...stopped, ...seen, model: ref }
        seen[chunk.kind] += chunk.text
        onDelta(chunk)
      }
      if (recording.error) throw RuntimeError.from(recording.error)
      return structuredClone(recording.response) as ModelResponse
    })()
  }

  const { contextTokens, info, accepts } = (typeof source === 'object' ? source : {}) as Partial<Model>
  return {
    ref,
    ...definedOf({ contextTokens, info, accepts }),
    async call(request, options) {
      const asked = hash(request)
      const key = hashOf(asked)
      const known = replayed(key, options)
      if (known) return known
      if (mode === 'replay') throw notRecorded(request, ref)
      const chunks: ModelDelta[] = []
      const onDelta = (delta: ModelDelta): void => {
        chunks.push({ ...delta })
        options.onDelta(delta)
      }
      const keep = async (ended: Pick<Recording, 'response' | 'error'>): Promise<void> => {
        if (options.signal.aborted) return
        await tape.add({ hash: key, request: asked, chunks, ...ended })
        played.set(key, tape.find(key).length)
      }
      try {
        const response = await (await live()).call(request, { ...options, onDelta })
        if (!response.partial) await keep({ response })
        return response
      } catch (error) {
        await keep({ error: errorBody(error) })
        throw error
      }
    },
  }
}

type CallOptions = Parameters<Model['call']>[1]

const stopped = {
  calls: [],
  usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 },
  finish: 'other',
  partial: true,
} satisfies Partial<ModelResponse>

/** As the runtime opens it: what it throws has a code by then. */
const opened = (source: CustomModel | string, ref: string): Promise<Model> => {
  const environment = systemEnvironment()
  return typeof source === 'string' ? createModels({ environment }).get(source) : createModels({ environment, custom: { [ref]: source } }).get(ref)
}

const whatCounts = ({ instructions, messages, tools, settings }: ModelRequest): unknown => ({
  instructions,
  settings,
  tools: tools.map(({ name }) => name),
  messages: messages.map((message) => {
    switch (message.role) {
      case 'assistant':
        return { role: message.role, text: message.text, calls: message.calls.map(({ name, input }) => ({ name, input })) }
      case 'tool':
        return { role: message.role, name: message.name, output: message.output, isError: message.isError }
      case 'user':
        return {
          role: message.role,
          text: message.text,
          files: message.files?.map(({ mimeType, bytes, fileName }) => ({ mimeType, bytes, fileName })),
        }
      default:
        return { role: message.role, text: message.text }
    }
  }),
})

const notRecorded = ({ messages }: ModelRequest, ref: string): RuntimeError => {
  const newest = messages.at(-1)
  const said = newest && 'text' in newest ? newest.text : JSON.stringify(newest)
  return new RuntimeError('provider_rejected', `${ref} has no recording of this request, and asks no model: ${(said ?? '').slice(0, 200)}`, {
    hint: "record it with mode: 'auto', or tell requests apart by less with `hash`",
    data: { messages: messages.length },
  })
}
