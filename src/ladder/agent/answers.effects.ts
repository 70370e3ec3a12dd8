/** The cache of an agent as actors: is there an answer already, and may this one be kept? What fails in it is as if there were no cache. */
import type { AnyActorLogic } from 'xstate'
import { fromTask, hashOf } from '../../index.ts'
import { callerOf, rootOf } from '../run.rules.ts'
import type { AgentRun } from './agent.context.ts'
import { type AnswerCache, type Found, foundIn } from './answers.ts'

type CallerContext = (runId: string) => Readonly<Record<string, unknown>>
type Code = {
  name: string
  version?: string | undefined
  cache: AnswerCache
  contextOf: CallerContext
  failed: (runId: string, thrown: unknown) => void
}

export const recallLogic = (code: Code): AnyActorLogic =>
  fromTask<{ found?: Found }, AgentRun>(async ({ input: run, signal }) => {
    const { store, threshold = 0.95 } = code.cache
    const found = await unlessFailed(code, run, async () => {
      const question = questionOf(run)
      const kept = await store.list(scopeOf(code, run))
      const exact = foundIn(kept, question, undefined, threshold)
      if (exact || kept.length === 0) return exact
      return foundIn(kept, question, await embeddingOf(code, question, signal), threshold)
    })
    return found ? { found } : {}
  }) as AnyActorLogic

/** Done again after a crash, it keeps the same once more. */
export const keepLogic = (code: Code): AnyActorLogic =>
  fromTask<null, AgentRun>(async ({ input: run, signal }) => {
    await unlessFailed(code, run, async () => {
      const question = questionOf(run)
      const embedding = await embeddingOf(code, question, signal)
      await code.cache.store.add(scopeOf(code, run), { question, answer: run.text ?? '', ...(embedding && { embedding }) })
    })
    return null
  }) as AnyActorLogic

const questionOf = ({ told }: AgentRun): string => told?.text ?? ''

const embeddingOf = async ({ cache: { embed } }: Code, question: string, signal: AbortSignal) => embed && [...(await embed(question, { signal }))]

/** Of one version of one agent with one set of instructions: another one may answer otherwise. */
const scopeOf = ({ name, version = '', cache: { scope = 'session' }, contextOf }: Code, run: AgentRun): string => {
  const rootRunId = rootOf(run)
  const context = contextOf(callerOf(run))
  const told = `${name}@${version}${run.placeholders ? `/filled:${hashOf(run.placeholders)}` : ''}`
  if (typeof scope === 'function') return `${told}/own:${scope({ input: run.input, context, rootRunId })}`
  if (scope === 'agent') return told
  return `${told}/session:${typeof context.sessionId === 'string' ? context.sessionId : rootRunId}`
}

const unlessFailed = async <Made>({ failed }: Code, { runId }: AgentRun, work: () => Promise<Made>): Promise<Made | undefined> => {
  try {
    return await work()
  } catch (thrown) {
    failed(runId, thrown)
    return undefined
  }
}
