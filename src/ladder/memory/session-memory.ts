/** What a session remembers, and what it is reminded of before a turn. A memory that fails is a warning, and no turn fails with it. */
import { LadderError, type LadderErrorBody, wordsOf } from '../errors.ts'
import { anything, isRecord, type KindsOf, optionsIn } from '../given.ts'
import { inTime, type Timer, unanswered } from '../in-time.ts'
import { checkedRecall, type Tier, wrong } from './definition.ts'
import type { MemoryHit, MemoryStore } from './memory-store.ts'

export type MemoryOptions = {
  store: MemoryStore
  /** `k: 0` only remembers. */
  recall?: { k?: number; threshold?: number; tier?: Tier }
  /** False only recalls. Default: true */
  remember?: boolean
  rememberTier?: Tier
  /** Whose it is: the session's, which is the default; everybody's; or what the function says, a user's say. */
  scope?: 'session' | 'shared' | ((sessionId: string) => string)
  /** Where it stands in the context. Default: `memories` */
  injectKey?: string
}
type CheckedMemoryOptions = Required<Omit<MemoryOptions, 'rememberTier'>> & { rememberTier: Tier | undefined }

const recallKinds: KindsOf<NonNullable<MemoryOptions['recall']>> = { k: anything, threshold: anything, tier: anything }
const keys = new Set(['store', 'recall', 'remember', 'rememberTier', 'scope', 'injectKey'])
const unsafe = new Set(['__proto__', 'constructor', 'prototype'])

/** @param given a store, or one with what is said of it @throws LadderError MEMORY_CONFIG naming what is wrong with it */
export const memoryOptions = (given: MemoryStore | MemoryOptions | undefined): CheckedMemoryOptions | undefined => {
  if (given === undefined) return undefined
  const options: Partial<MemoryOptions> = isStore(given) ? { store: given } : isRecord(given) ? given : {}
  const { store, recall = {}, remember = true, rememberTier, scope = 'session', injectKey = 'memories' } = options
  const strange = Object.keys(options).find((key) => !keys.has(key))
  if (strange !== undefined) throw wrong('an option of memory', strange, `one of ${[...keys].join(', ')}`)
  if (!isStore(store))
    throw new LadderError('MEMORY_CONFIG', 'there is no memory to ask', { hint: 'give what memory() returned, or { store: it, … }' })
  optionsIn(recall, recallKinds, { who: 'recall of memory', code: 'MEMORY_CONFIG' })
  checkedRecall(recall, 'recall.')
  for (const [option, tier] of Object.entries({ 'recall.tier': recall.tier, rememberTier }))
    if (tier !== undefined && store.tiers?.includes(tier) === false)
      throw wrong(option, tier, `one of the tiers of the memory: ${store.tiers.join(', ')}`)
  if (typeof remember !== 'boolean') throw wrong('remember', remember, 'true or false')
  if (scope !== 'session' && scope !== 'shared' && typeof scope !== 'function')
    throw wrong('scope', scope, "'session', 'shared', or a function of the session")
  if (typeof injectKey !== 'string' || injectKey === '' || unsafe.has(injectKey)) throw wrong('injectKey', injectKey, 'a key of the context')
  return { store, recall, remember, rememberTier, scope, injectKey }
}

/** What comes of a memory: what to add to the context, if it has found something, and what it had trouble with. */
type Recalled = { context?: Readonly<Record<string, readonly MemoryHit[]>>; warning?: LadderErrorBody }
/** @property timer by which it is given up; its signal aborts then */
type Asked = { signal?: AbortSignal; timer?: Timer }

/** @param input of the turn; other than a text it counts as JSON @returns never rejects */
export const recallFor = async (options: CheckedMemoryOptions, sessionId: string, input: unknown, given: Asked = {}): Promise<Recalled> => {
  const { store, recall, injectKey } = options
  if (recall.k === 0) return {}
  try {
    const scope = scopeOf(options, sessionId)
    const hits = await asked('recall()', given, (signal) => store.recall(textOf(input), { ...recall, scope, ...signal }))
    return hits.length === 0 ? {} : { context: { [injectKey]: hits } }
  } catch (thrown) {
    return { warning: warningOf(thrown, 'nothing could be recalled', sessionId) }
  }
}

/** After a clean turn. @param outcome its data, or what branches gave @returns never rejects */
export const rememberFor = async (
  options: CheckedMemoryOptions,
  sessionId: string,
  input: unknown,
  outcome: unknown,
  given: Asked = {},
): Promise<Pick<Recalled, 'warning'>> => {
  const { store, remember, rememberTier: tier } = options
  if (!remember) return {}
  try {
    const text = `${textOf(input)}\n${textOf(outcome)}`
    if (text.trim() === '') return {}
    const scope = scopeOf(options, sessionId)
    await asked('remember()', given, (signal) => store.remember(text, { scope, ...(tier && { tier }), ...signal }))
    return {}
  } catch (thrown) {
    return { warning: warningOf(thrown, 'nothing could be remembered', sessionId) }
  }
}

type Ask<Value> = (signal: Pick<Asked, 'signal'>) => Promise<Value>
const asked = async <Value>(what: string, { signal, timer }: Asked, ask: Ask<Value>): Promise<Value> => {
  if (!timer) return ask(signal ? { signal } : {})
  const leave = new AbortController()
  return inTime(
    timer,
    () => ask({ signal: leave.signal }),
    () => {
      const late = new Error(unanswered(what))
      leave.abort(late)
      return late
    },
  )
}

const isStore = (given: unknown): given is MemoryStore => {
  const { recall, remember } = (given ?? {}) as Partial<Record<keyof MemoryStore, unknown>>
  return typeof recall === 'function' && typeof remember === 'function'
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value))

/** @throws TypeError: a scope that is nobody's would be everybody's */
const scopeOf = ({ scope }: CheckedMemoryOptions, sessionId: string): string | undefined => {
  if (scope === 'shared') return undefined
  if (scope === 'session') return `session:${sessionId}`
  const said: unknown = scope(sessionId)
  if (typeof said === 'string' && said !== '') return said
  throw new TypeError('the scope of a session is a text of at least one character')
}

const warningOf = (thrown: unknown, what: string, sessionId: string): LadderErrorBody =>
  new LadderError('STORE_FAILED', `${what}: ${wordsOf(thrown)}`, {
    cause: thrown,
    context: { sessionId },
    hint: 'the turn went on without it; see whether the memory can be reached',
  }).toJSON()
