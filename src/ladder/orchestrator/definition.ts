/** What an author writes of an orchestrator: a supervisor for each turn, and how a session is kept between them. */

import { agent } from '../agent/agent.ts'
import { LadderError } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import { anything, code, count, either, flag, type KindsOf, oneOf, optionsIn, record } from '../given.ts'
import type { HistoryMessage, HistoryWindow } from '../history.rules.ts'
import type { MemoryStore } from '../memory/memory-store.ts'
import { type MemoryOptions, memoryOptions } from '../memory/session-memory.ts'
import { isKindName } from '../names.rules.ts'
import type { Schema } from '../schema.ts'
import { isCheckpointStore } from '../stores/guarded-store.ts'
import { isSnapshotStore } from '../stores/mirror.ts'
import type { CheckpointStore, SnapshotStore } from '../stores/store.ts'
import { choosingKinds, supervisorKinds } from '../supervisor/check.ts'
import type { SupervisorDefinition } from '../supervisor/definition.ts'
import type { Compaction } from './compaction.rules.ts'
import { type CheckedLock, checkedLock, type SessionLock } from './session-lock.ts'

type Late<Value> = Value | Promise<Value>
type OfSession = { sessionId: string }

export type SummarizePolicy = {
  /** A turn with this number, or a later one, summarises what is older than `keep` messages. Default: only the command does. */
  afterTurns?: number
  /** Default: 8. */
  keep?: number
  /** How many messages have to come after a summary until the next one is made, so that not every turn pays for one. Default: as many as `keep`. */
  margin?: number
  /** An agent, or the reference of a model. Default: a memo that says how many messages are left out. */
  summarizer?: AnyExecutable | string
  /** Applies it to the history that the caller keeps. Default: it comes back in the result, and nothing is recorded. */
  onCompact?: (compaction: Compaction, of: OfSession) => Late<unknown>
  /** ms that it may take, and that a turn waits for it at most. Default: 30,000. */
  lock?: { maxWait?: number }
}
/** Makes the compaction itself, and only when it is commanded. */
export type Summarize = SummarizePolicy | ((history: readonly HistoryMessage[], of: OfSession) => Late<Compaction>)

// biome-ignore lint/suspicious/noExplicitAny: a handler of any payload
type AnyCommand = (payload: any, of: { signal: AbortSignal | undefined }) => unknown
export type Commands = Readonly<Record<string, AnyCommand>>

export type OrchestratorDefinition<
  Input,
  State extends object,
  Name extends string,
  Output extends Schema | undefined,
  Named extends Commands,
> = Omit<SupervisorDefinition<Input, State, Name, Output>, 'history' | 'historyWindow' | 'middleware' | 'name' | 'snapshotStore'> & {
  /** Also the kind of its sessions: lower-case letters, digits and hyphens, at most 24. */
  name: string
  /** A turn is routed again until it is enough. Default: one decision and one dispatch. */
  iterate?: boolean
  /** How much of the history is told to whom: so many of the newest, or what code picks. Default: 5 to the router, 15 to agents. */
  historyWindow?: { router?: HistoryWindow; agents?: HistoryWindow; ack?: HistoryWindow }
  summarize?: Summarize
  /** Turns of a session that are kept. Default: 100. */
  keepSnapshots?: number | 'all'
  /** Default: that of the whole process, or the store that the runtime has already. */
  checkpointStore?: CheckpointStore
  /** Is told of turns that iterate, as that of a supervisor is of its runs; never called without `iterate`. Default: that of the whole process, or nobody: they go on by their journals. */
  snapshotStore?: SnapshotStore | false
  /**
   * Turns of a session run one by one on whichever node, since a session is one actor. With `false` they run at the same time, each with the newest row that is
   * stored when it begins. A lock of your own is held for each turn besides, against turns of the same session elsewhere: in runtimes that share the store and not
   * the journals. Default: true.
   */
  sessionLock?: boolean | SessionLock
  /** Asked before each turn, what it finds stands in the context of code; told of each clean turn. Default: none. */
  memory?: MemoryStore | MemoryOptions
  /** Whether a session ends with this turn. Default: it goes on. */
  endsWhen?: (of: { sessionId: string; turnIndex: number; state: State; data: unknown }) => Late<boolean>
  /** What `command()` does, besides `compact`. */
  commands?: Named
}

// biome-ignore lint/suspicious/noExplicitAny: one of any types
export type AnyOrchestrator = OrchestratorDefinition<any, any, string, Schema | undefined, Commands>

/** What an orchestrator is once it is checked. */
export type CheckedOrchestrator = {
  definition: AnyOrchestrator
  name: string
  turnKind: string
  summaryKind: string
  policy: SummarizePolicy
  summarizer: AnyExecutable | undefined
  memory: ReturnType<typeof memoryOptions>
  lockMaxMs: number
  sessionLock: CheckedLock | undefined
  /** undefined: all. */
  keepRows: number | undefined
}

const { history: _, ...commonKinds } = supervisorKinds
export const orchestratorKinds: KindsOf<AnyOrchestrator> = {
  ...commonKinds,
  ...choosingKinds,
  iterate: flag,
  summarize: either(record('{ afterTurns: 20, keep: 8 }'), code('async (history) => compaction')),
  keepSnapshots: either(count(1), oneOf('all')),
  checkpointStore: anything,
  sessionLock: anything,
  memory: anything,
  endsWhen: code('({ state }) => state.isDone'),
  commands: record('{ rename: (payload) => … }'),
}
const policyKinds: KindsOf<SummarizePolicy> = {
  afterTurns: count(0),
  keep: count(0),
  margin: count(0),
  summarizer: anything,
  onCompact: code('(compaction, { sessionId }) => …'),
  lock: record('{ maxWait: 30_000 }'),
}
const lockKinds: KindsOf<NonNullable<SummarizePolicy['lock']>> = { maxWait: count(0) }

/** @throws LadderError ORCHESTRATOR_CONFIG, MEMORY_CONFIG naming what is wrong with it */
export const checkedOrchestrator = (definition: AnyOrchestrator): CheckedOrchestrator => {
  const { name, iterate, summarize = {}, keepSnapshots = 100, memory, checkpointStore, snapshotStore, commands = {} } = definition
  if (!isKindName(name, 24))
    throw wrong(`'${String(name).slice(0, 40)}' is no name of an orchestrator`, 'use lower-case letters, digits and hyphens, at most 24')
  if (checkpointStore !== undefined && !isCheckpointStore(checkpointStore))
    throw wrong(`checkpointStore of '${name}' is no store`, 'give memoryStore(), sqliteStore(…) or one of your own')
  if (iterate && snapshotStore === false)
    throw wrong(
      `'${name}' iterates, and has no snapshotStore`,
      'leave snapshotStore: false out: turns in flight stand in their journals, and in a store that you name',
    )
  if (snapshotStore !== undefined && snapshotStore !== false && !isSnapshotStore(snapshotStore))
    throw wrong(`snapshotStore of '${name}' is no store`, 'give memorySnapshots(), sqliteSnapshots(…) or one of your own')
  for (const [command, handler] of Object.entries(commands))
    if (command === 'compact' || typeof handler !== 'function')
      throw wrong(
        `the command '${command}' of '${name}' ${command === 'compact' ? 'is there already' : 'is no function'}`,
        'write name: (payload) => …',
      )
  if ('middleware' in definition)
    throw wrong(`'${name}' has middleware`, 'middleware stands around agents, workflows and supervisors: give it to those that work in its turns')
  const policy = typeof summarize === 'function' ? {} : summarize
  checkPolicy(name, policy)
  const { summarizer, lock: { maxWait = 30_000 } = {} } = policy
  return {
    definition,
    name,
    turnKind: `${name}-turn`,
    summaryKind: `${name}-summary`,
    policy,
    summarizer: typeof summarizer === 'string' ? agent({ name: `${name}-summary`, model: summarizer }) : summarizer,
    memory: memoryOptions(memory),
    lockMaxMs: maxWait,
    sessionLock: checkedLock(name, definition.sessionLock),
    keepRows: keepSnapshots === 'all' ? undefined : keepSnapshots,
  }
}

/** What the supervisor of its turns is: with a version of its own it would refuse those that are under way, although nothing about them has changed. */
export const supervisedBy = (definition: AnyOrchestrator, turnKind: string) => {
  const { version: _, on: __, observe: ___, snapshotStore: ____, historyWindow = {}, ...supervised } = definition
  const { router = 5, agents = 15, ack = 0 } = historyWindow
  return { ...supervised, name: turnKind, historyWindow: { ...historyWindow, router, agents, ack } }
}

const checkPolicy = (name: string, policy: SummarizePolicy): void => {
  const who = `summarize of '${name}'`
  const { summarizer, lock } = optionsIn<SummarizePolicy>(policy, policyKinds, { who, code: 'ORCHESTRATOR_CONFIG' })
  if (lock !== undefined) optionsIn(lock, lockKinds, { who: `lock in ${who}`, code: 'ORCHESTRATOR_CONFIG' })
  if (summarizer !== undefined && typeof summarizer !== 'string' && !(summarizer instanceof Executable))
    throw wrong(`summarize.summarizer of '${name}' cannot be asked`, 'give what agent() of statecast/ladder returned, or the reference of a model')
}

const wrong = (message: string, hint: string): LadderError => new LadderError('ORCHESTRATOR_CONFIG', message, { hint })

/** What is wrong with its supervisor is wrong with it. @throws LadderError ORCHESTRATOR_CONFIG */
export const configured = <Made>(make: () => Made): Made => {
  try {
    return make()
  } catch (cause) {
    if (!(cause instanceof LadderError)) throw cause
    const { message, hint, context } = cause
    throw new LadderError('ORCHESTRATOR_CONFIG', message, { cause, context, hint })
  }
}
