/** What scenarios of killed runs are made of: the same ones are told in memory, on a NATS server, and with processes that are killed. */
import { type Clock, pause } from '../../../src/contracts/environment.ts'
import { type Extension, isRuntimeError, type ModelRequest, type Runtime } from '../../../src/index.ts'
import type { LadderOptions } from '../../../src/ladder/index.ts'
import type { ScriptedSource } from '../../../src/testing/index.ts'

/**
 * Something that happens outside of the journal, where it cannot be taken back: an answer of a model, code of the author, or a tool that may run only once. The name
 * says which one it is, and is the same in every life.
 */
export type Deed = { what: 'model' | 'code' | 'once'; name: string }
export type Did = (what: Deed['what'], name: string) => void

export type Scenario = {
  readonly name: string
  /** The end of it. */
  readonly comesTo: object
  /** Its tool that may run only once: of its call nobody may know whether it ran, and then it ends in another way. */
  readonly doubtful?: { tool: string; actors: RegExp }
  /** Executables are of one runtime, so every life and every node has its own. */
  made(did: Did): Story
}

export type Story = {
  executables: LadderOptions['executables']
  models?: Record<string, ScriptedSource>
  extensions?: readonly Extension[]
  /** Begins the run, or goes on with it, until it has ended. Whoever asks after a crash asks the same. */
  play(at: Stage): Promise<unknown>
  /** Actors that are code of the author, beside the models: each of their results is one deed. */
  effects?: RegExp
  /** Actors that are code which calls runs: whatever begins again says again whom it calls. */
  callers?: RegExp
  /** Which actors come to the same whatever happens; default: all. A schedule has begun its next run before it can be stopped. */
  compares?: (kind: string, id: string) => boolean
}
/** `clock` ends with the runtime. */
export type Stage = { runtime: Runtime; clock: Clock }

const lookMs = 250

/** Until the run has ended somebody looks again and again whether there is something to do for it. */
export const besides = async <Result>({ clock }: Stage, run: Promise<Result>, look: () => Promise<unknown>): Promise<Result> => {
  let isOver = false
  const looking = async () => {
    for (; !isOver; await pause(clock, lookMs)) await look().catch(() => undefined)
  }
  void looking()
  return run.finally(() => {
    isOver = true
  })
}

/** Whoever asks while the store is away is told that it may ask again, and does. */
export const played = async (story: Story, at: Stage): Promise<unknown> => {
  for (;;)
    try {
      return await story.play(at)
    } catch (error) {
      if (!isRuntimeError(error) || !error.retryable) throw error
      await pause(at.clock, lookMs)
    }
}

export const usage = { inputTokens: 7, outputTokens: 3 }
export const lastWord = ({ messages }: ModelRequest): string =>
  messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).at(-1) ?? ''
/** How often this conversation was answered before. */
export const placeOf = ({ messages }: ModelRequest): number => messages.filter(({ role }) => role === 'assistant').length
