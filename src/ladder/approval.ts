/** What people decide about calls of tools that wait for them. */
import { z } from 'zod'
import { type Actor, type Agent, formatAddress, hashOf, isRuntimeError, type Tool, uuid } from '../index.ts'
import { LadderError, wordsOf } from './errors.ts'
import { type Awaited, apartIn, callsIn, type Decided, type DecisionEvent, type RunState, type WaitingCall, waitsIn } from './run.rules.ts'
import { isSettled } from './running.ts'

/** A call of a tool that waits for a person. */
export type PendingCall = WaitingCall['approval']

/** `note` is why; who wanted to make a denied call reads it. `by` says who it was. */
export type Decision = { callId: string; note?: string; by?: string } & (
  | {
      decision: 'approve'
      /** From now on that tool needs no further yes in this run of the agent. */
      remember?: true
    }
  | { decision: 'deny' }
  | {
      decision: 'edit'
      /** It runs with that in the place of what the model wrote. It has to fit the schema of the tool. */
      input: unknown
    }
)

const text = z.string().max(4000)
const common = { callId: text.min(1), note: text.optional(), by: text.optional() }
const Said = z.discriminatedUnion('decision', [
  z.strictObject({ ...common, decision: z.literal('approve'), remember: z.literal(true).optional() }),
  z.strictObject({ ...common, decision: z.literal('deny') }),
  z.strictObject({ ...common, decision: z.literal('edit'), input: z.json() }),
])

/** @throws LadderError SCHEMA_VALIDATION_FAILED */
export const checkedDecision = (given: unknown): Decision => {
  const read = Said.safeParse(given)
  if (read.success) return read.data as Decision
  throw new LadderError('SCHEMA_VALIDATION_FAILED', `this is no decision: ${z.prettifyError(read.error)}`, {
    cause: read.error,
    hint: "write { callId, decision: 'approve' }, { callId, decision: 'deny', note } or { callId, decision: 'edit', input }",
  })
}

/** The event with which it is told. @param id tells it apart from other decisions about the same call @throws LadderError SCHEMA_VALIDATION_FAILED */
const decisionEvent = (found: WaitingCall, given: Decision, agents: readonly Agent[], id: string): DecisionEvent & { remember?: 'session' } => {
  const { inputHash, attempt, name } = found.approval
  const { callId, decision, note, by } = given
  const said = { ...(note !== undefined && { note }), ...(by !== undefined && { by }) }
  const about = { type: 'approve' as const, ask: found.ask, callId, inputHash, attempt, id, ...said }
  switch (given.decision) {
    case 'edit': {
      const tools = agents.flatMap((agent) => agent.tools.filter((tool) => tool.name === name))
      return { ...about, decision: 'approve' as const, edited: { input: fitting(tools, name, given.input), inputHash: hashOf(given.input) } }
    }
    case 'approve':
      return { ...about, decision: given.decision, ...(given.remember && { remember: 'session' as const }) }
    default:
      return { ...about, decision: decision as 'deny' }
  }
}

/** Where what waits in a run is asked for. @property deciderOf who knows of runs of a kind */
type Place = { agents: readonly Agent[]; actor: Actor; deciderOf: (kind: string) => Decider | undefined }
/** What is asked who waits in a run of it, or in the turn of a session that is that request. */
export type Decider = {
  pending(id: string, request?: string): Promise<readonly PendingCall[]>
  decide(id: string, decision: Decision, request?: string): Promise<void>
}

/** Calls of tools that wait for a person, in all runs below too. @throws RuntimeError not_found */
export const pendingIn = async ({ actor, deciderOf }: Omit<Place, 'agents'>): Promise<PendingCall[]> => {
  const snapshot = await actor.snapshot()
  // Of a run that has ended nobody waits any more.
  if (isSettled(snapshot)) return []
  const state = snapshot.context as RunState
  const apart = calledHere(actor, state).map(async ({ kind, id, request }) => (await deciderOf(kind)?.pending(id, request).catch(unlessLost)) ?? [])
  return [...callsIn(state).map(({ approval }) => approval), ...(await Promise.all(apart)).flat()]
}

/** @throws LadderError APPROVAL_UNKNOWN, SCHEMA_VALIDATION_FAILED; RuntimeError not_found */
export const decide = async (runId: string, decision: Decision, { agents, actor, deciderOf }: Place): Promise<void> => {
  const given = checkedDecision(decision)
  const snapshot = await actor.snapshot()
  const state = snapshot.context as RunState
  const found = isSettled(snapshot) ? undefined : callsIn(state).find(({ approval }) => approval.callId === given.callId)
  if (!found) {
    const below = isSettled(snapshot) ? [] : calledHere(actor, state)
    for (const one of below) if (await isDecidedIn(deciderOf(one.kind), one, given)) return
    throw notWaiting(runId, given.callId, state)
  }
  const id = uuid()
  await actor.send(decisionEvent(found, given, agents, id))
  const { decided } = (await actor.snapshot()).context as RunState
  const first = decided?.find(({ callId, attempt }) => callId === given.callId && attempt === found.approval.attempt)
  if (first && first.id !== id) throw alreadyDecided(runId, first)
}

/** Runs apart, and turns, that are this one's own: a fork remembers those of its origin. What it waits for by the name of a run is the affair of whoever else has that name. */
const calledHere = ({ address }: Actor, state: RunState): Awaited[] => {
  const isOwn = ({ key }: { key: string }): boolean => key.startsWith(`${formatAddress(address)}/`)
  return [
    ...apartIn(state).flatMap(({ ask, apart }) => (isOwn(apart) ? [{ kind: apart.kind, id: ask }] : [])),
    ...waitsIn(state).flatMap(({ waits }) => (isOwn(waits) && waits.request !== undefined ? [waits] : [])),
  ]
}

/** One that has been noted and has not begun, or that cannot be read, has nobody who waits. */
const unlessLost = (error: unknown): undefined => {
  if (!isRuntimeError(error) || !['not_found', 'drift', 'quarantined'].includes(error.code)) throw error
}

/** @returns whether it waited there @throws LadderError APPROVAL_UNKNOWN where it was decided there before; SCHEMA_VALIDATION_FAILED */
const isDecidedIn = async (decider: Decider | undefined, { id, request }: Awaited, decision: Decision): Promise<boolean> => {
  try {
    await decider?.decide(id, decision, request)
    return decider !== undefined
  } catch (error) {
    if (!(error instanceof LadderError)) return unlessLost(error) ?? false
    if (error.code !== 'APPROVAL_UNKNOWN' || 'decided' in error.context) throw error
    return false
  }
}

const notWaiting = (runId: string, callId: string, { decided }: Pick<RunState, 'decided'>): LadderError => {
  const before = decided?.findLast((one) => one.callId === callId)
  if (before) return alreadyDecided(runId, before)
  return new LadderError('APPROVAL_UNKNOWN', `no call '${callId.slice(0, 80)}' of the run ${runId} waits for anybody`, {
    context: { runId, callId },
    hint: 'its run has ended, or it was never there: pending() lists those that wait',
  })
}

const alreadyDecided = (runId: string, { id: _, ...decided }: Decided): LadderError =>
  new LadderError(
    'APPROVAL_UNKNOWN',
    `the call '${decided.callId.slice(0, 80)}' of the run ${runId} was decided before${decided.by ? `, by ${decided.by}` : ''}`,
    {
      context: { runId, callId: decided.callId, decided },
      hint: 'the first decision counts: pending() lists those that wait',
    },
  )

/** Of a tool that comes from elsewhere, whoever runs it checks what it is given. */
const fitting = (tools: readonly Tool[], name: string, input: unknown): unknown => {
  const problems = tools.map((tool) => problemIn(tool, input)).filter((problem) => problem !== undefined)
  const [problem] = problems
  if (problem === undefined || problems.length < tools.length) return input
  throw new LadderError('SCHEMA_VALIDATION_FAILED', `the input does not fit the tool '${name}': ${problem.message}`, {
    cause: problem.cause,
    context: { tool: name },
    hint: 'nothing was decided: the call still waits',
  })
}

/** Code of an author checks as well, and may throw. */
const problemIn = ({ input: schema }: Tool, input: unknown): { message: string; cause: unknown } | undefined => {
  try {
    const { error } = schema.safeParse(input)
    return error && { message: z.prettifyError(error), cause: error }
  } catch (cause) {
    return { message: `its schema threw: ${wordsOf(cause)}`, cause }
  }
}
