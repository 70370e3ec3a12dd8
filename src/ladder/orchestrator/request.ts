/** What a caller says, as its session is told it: checked, and the history cut for those who read it. */
import { LadderError, wordsOf } from '../errors.ts'
import { checkedHistory, type HistoryMessage } from '../history.rules.ts'
import { unlessAborted } from '../leaving.ts'
import type { RunInput } from '../run.rules.ts'
import { inputHashOf } from '../same-input.ts'
import { fitted } from '../schema.ts'
import type { SessionRecord } from '../stores/store.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { foldableOf, older } from './compaction.rules.ts'
import type { CheckedOrchestrator } from './definition.ts'
import type { SessionRequest } from './session.context.ts'

type Said = {
  id: string
  input: unknown
  history: readonly HistoryMessage[]
  state?: object | undefined
  force?: boolean | undefined
  inside?: RunInput['inside']
  /** What is stored of its session; undefined where nobody can say. */
  record: (() => Promise<SessionRecord>) | undefined
  /** By its caller. */
  isNamed: boolean
  signal?: AbortSignal | undefined
}

const sessionIdBytesMax = 900

/** @throws LadderError SCHEMA_VALIDATION_FAILED where the caller made a mistake */
export const checkedCall = (name: string, sessionId: unknown, history: unknown, requestId: unknown = ''): readonly HistoryMessage[] => {
  if (typeof sessionId !== 'string' || sessionId === '')
    throw new LadderError('SCHEMA_VALIDATION_FAILED', `a call of '${name}' names no session`, { hint: "give sessionId: 'user-1'" })
  // The runs of its turns are called after it, and no name may have more than 1,024.
  if (new TextEncoder().encode(sessionId).length > sessionIdBytesMax)
    throw new LadderError('SCHEMA_VALIDATION_FAILED', `the sessionId of a call of '${name}' has more than ${sessionIdBytesMax} bytes`, {
      hint: 'give a shorter one, such as a hash of it',
    })
  if (history === undefined)
    throw new LadderError('SCHEMA_VALIDATION_FAILED', `a call of '${name}' has no history`, {
      hint: 'give all that was said in the session, history: [] at first: the runtime does not keep it',
    })
  // It is found again by its name: what is no text never would be.
  if (typeof requestId !== 'string')
    throw new LadderError('SCHEMA_VALIDATION_FAILED', `requestId of a call of '${name}' is no text`, {
      hint: "give requestId: 'order-1', or leave it out",
    })
  return checkedHistory(history, `history of '${name}'`)
}

/** @throws LadderError where the input does not fit, or code of its author fails at the history; the reason of the signal, as of one that has not been sent */
export const requestOf = (checked: CheckedOrchestrator, supervisor: Supervisor, said: Said): Promise<SessionRequest> =>
  unlessAborted(said.signal, made(checked, supervisor, said))

const made = async ({ definition, name, policy }: CheckedOrchestrator, supervisor: Supervisor, said: Said): Promise<SessionRequest> => {
  const { id, input, history, state, force, inside, isNamed, record } = said
  const inputHash = isNamed ? inputHashOf(input) : undefined
  const { messages: foldable, from } =
    policy.afterTurns === undefined ? { messages: [], from: 0 } : foldableOf(history, await through(record), policy)
  return {
    id,
    wants: 'turn',
    input: definition.input ? await fitted(definition.input, input, `the input of '${name}'`) : input,
    ...(inputHash !== undefined && { inputHash }),
    history: supervisor.slicesOf(history),
    ...(state && { state: plainState(name, state) }),
    ...(foldable.length > 0 && { foldable, ...(from > 0 && { foldableFrom: from }) }),
    ...(force && { force }),
    ...(inside && { inside }),
  }
}

/** How far it was summarised: that need not travel. Where nobody knows, all of it does. */
const through = async (record: Said['record']): Promise<number | null> => {
  const stored = await record?.().catch(() => undefined)
  return stored?.summarizedThrough ?? null
}

export const compactRequestOf = ({ definition, policy }: CheckedOrchestrator, id: string, history: readonly HistoryMessage[]): SessionRequest => {
  const isPolicy = definition.summarize !== undefined && typeof definition.summarize !== 'function'
  return { id, wants: 'compaction', foldable: isPolicy ? older(history, policy.keep) : history }
}

const plainState = (name: string, state: object): Record<string, unknown> => {
  try {
    return JSON.parse(JSON.stringify(state)) as Record<string, unknown>
  } catch (cause) {
    throw new LadderError('SCHEMA_VALIDATION_FAILED', `the state given to '${name}' is no JSON: ${wordsOf(cause)}`, { cause })
  }
}
