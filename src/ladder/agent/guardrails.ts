/** Checks of what goes to the model and of what comes from it, as an author writes them. */
import { LadderError, type LadderErrorBody, wordsOf } from '../errors.ts'
import type { TripCall } from './middleware.ts'

/** What a check is given. */
export type Checked = {
  readonly runId: string
  readonly agent: string
  readonly input: unknown
  readonly context: Readonly<Record<string, unknown>>
  /** From 1. */
  readonly trip: number
  /** To the model: what it is told with the first trip, later nothing. From the model: what it said. */
  readonly text: string
  /** From the model: what it wants to call, of which nothing has run. */
  readonly calls: readonly TripCall[]
  /** To the model: what its calls of the trip before have come to. */
  readonly results: readonly { tool: string; output: unknown }[]
  readonly signal: AbortSignal
}

export type Guardrail = {
  name: string
  /** `true` or nothing: it may pass; `false` or a reason: it may not. One that throws lets nothing pass. */
  check: (given: Checked) => Said | Promise<Said>
}
// biome-ignore lint/suspicious/noConfusingVoidType: as above
type Said = boolean | string | undefined | void

/** Checked in their order, with each trip; the first that does not pass ends the run with GUARDRAIL_VIOLATION. */
export type Guardrails = { input?: readonly Guardrail[]; output?: readonly Guardrail[] }
export type Stage = keyof Guardrails

/** @returns what is wrong, if anything is */
export const refusalOf = async (stage: Stage, rails: readonly Guardrail[] = [], given: Checked): Promise<LadderErrorBody | undefined> => {
  for (const { name, check } of rails) {
    const reason = await reasonOf(check, given)
    if (reason !== undefined)
      return new LadderError('GUARDRAIL_VIOLATION', `the guardrail '${name}' does not let the ${stage} of '${given.agent}' pass: ${reason}`, {
        context: { stage, name, reason, trip: given.trip },
      }).toJSON()
  }
  return undefined
}

const reasonOf = async (check: Guardrail['check'], given: Checked): Promise<string | undefined> => {
  try {
    const said = await check(given)
    if (said === false) return 'refused'
    return typeof said === 'string' ? said : undefined
  } catch (thrown) {
    return `the check failed: ${wordsOf(thrown)}`
  }
}

/** @throws LadderError LADDER_CONFIG naming what is wrong */
export const checkedGuardrails = (agent: string, { input = [], output = [], ...more }: Guardrails): Guardrails => {
  const hint = "write guardrails: { output: [{ name: 'polite', check: ({ text }) => !text.includes('!') }] }"
  const wrong = (message: string): LadderError => new LadderError('LADDER_CONFIG', message, { hint, context: { agent } })
  const [unknown] = Object.keys(more)
  if (unknown !== undefined) throw wrong(`guardrails of '${agent}' have '${unknown}'`)
  for (const [stage, rails] of Object.entries({ input, output })) {
    if (!Array.isArray(rails)) throw wrong(`guardrails.${stage} of '${agent}' is no list`)
    for (const [index, one] of (rails as readonly Guardrail[]).entries()) {
      if (typeof one?.name !== 'string' || one.name === '' || typeof one.check !== 'function')
        throw wrong(`guardrails.${stage}[${index}] of '${agent}' has no name and check`)
      if (rails.findIndex(({ name }) => name === one.name) !== index) throw wrong(`two guardrails.${stage} of '${agent}' are named '${one.name}'`)
    }
  }
  return { input, output }
}
