/** Answers that are kept, so that who asks the same again, or nearly, gets one without a call of the model. */
import { LadderError } from '../errors.ts'
import { anything, count, type KindsOf, optionsIn } from '../given.ts'

/** An answer in the words of the model; `embedding` where the agent has one made. */
export type KeptAnswer = { question: string; answer: string; embedding?: readonly number[] }

/** Where they are: in memory, or whatever has these two. One that fails is as good as empty. */
export type AnswerStore = {
  /** All of a scope, of which the newest that fits is taken. */
  list(scope: string): readonly KeptAnswer[] | Promise<readonly KeptAnswer[]>
  add(scope: string, kept: KeptAnswer): void | Promise<void>
}

export type AnswerCache = {
  store: AnswerStore
  /** What a question means, as numbers. Without one only the same words are the same question. */
  embed?: (text: string, more: { signal: AbortSignal }) => readonly number[] | Promise<readonly number[]>
  /** From which cosine of 1 on a question counts as the same. Default: 0.95. */
  threshold?: number
  /**
   * Among whom answers are shared: those of one session, which is `sessionId` in the context of the caller, or else the root run; all who ask the agent; or
   * who has the same name by this function. Default: `session`.
   */
  scope?: 'session' | 'agent' | ((asked: { input: unknown; context: Readonly<Record<string, unknown>>; rootRunId: string }) => string)
}

/** Keeps answers in the memory of this process, the newest of each scope. @param max of one scope */
export const memoryAnswers = (bounds: { max?: number; scopesMax?: number } = {}): AnswerStore => {
  const { max = 1000, scopesMax = 1000 } = optionsIn<typeof bounds>(
    bounds,
    { max: count(1), scopesMax: count(1) },
    { who: 'memoryAnswers()', code: 'LADDER_CONFIG' },
  )
  const scopes = new Map<string, KeptAnswer[]>()
  return {
    list: (scope) => scopes.get(scope) ?? [],
    add(scope, kept) {
      const before = (scopes.get(scope) ?? []).filter(({ question }) => question !== kept.question)
      // The scope that was added to longest ago goes first.
      scopes.delete(scope)
      scopes.set(scope, [...before, kept].slice(-max))
      const [oldest] = scopes.keys()
      if (scopes.size > scopesMax && oldest !== undefined) scopes.delete(oldest)
    },
  }
}

export type Found = { answer: string; similarity: number }

/** The same words first, and then what is most alike; of what is equally alike the newest. */
export const foundIn = (
  kept: readonly KeptAnswer[],
  question: string,
  embedding: readonly number[] | undefined,
  threshold: number,
): Found | undefined => {
  const same = kept.findLast((one) => one.question === question)
  if (same) return { answer: same.answer, similarity: 1 }
  if (!embedding) return undefined
  let best: Found | undefined
  for (const one of kept) {
    const similarity = one.embedding ? cosine(one.embedding, embedding) : 0
    if (similarity >= Math.max(threshold, best?.similarity ?? 0)) best = { answer: one.answer, similarity }
  }
  return best
}

/** 0 where they cannot be compared. */
const cosine = (one: readonly number[], other: readonly number[]): number => {
  if (one.length !== other.length) return 0
  const product = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
  const size = Math.sqrt(product(one, one) * product(other, other))
  return size > 0 ? product(one, other) / size : 0
}

const cacheKinds: KindsOf<AnswerCache> = { store: anything, embed: anything, threshold: anything, scope: anything }

/** @throws LadderError LADDER_CONFIG naming what is wrong */
export const checkedCache = (agent: string, cache: AnswerCache): AnswerCache => {
  const wrong = (message: string, hint: string): LadderError => new LadderError('LADDER_CONFIG', message, { hint, context: { agent } })
  const {
    store,
    embed,
    threshold = 0.95,
    scope = 'session',
  } = optionsIn<AnswerCache>(cache, cacheKinds, { who: `cache of '${agent}'`, code: 'LADDER_CONFIG', context: { agent } })
  if (typeof store?.list !== 'function' || typeof store.add !== 'function')
    throw wrong(`the cache of '${agent}' has no store`, 'write cache: { store: memoryAnswers() }, or give what has list and add')
  if (embed !== undefined && typeof embed !== 'function')
    throw wrong(`embed of the cache of '${agent}' is no function`, 'write embed: async (text) => [0.1, …]')
  if (typeof threshold !== 'number' || !(threshold > 0 && threshold <= 1))
    throw wrong(`threshold of the cache of '${agent}' is ${String(threshold)}`, 'it is a number above 0, up to 1')
  if (scope !== 'session' && scope !== 'agent' && typeof scope !== 'function')
    throw wrong(`scope of the cache of '${agent}' is '${String(scope)}'`, "it is 'session', 'agent', or a function that names one")
  return cache
}
