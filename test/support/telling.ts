/**
 * A story can be told in another way than in memory: on a server, or with a process that dies in its middle. Whoever retells stories says how; the
 * harness asks as each of them begins.
 */
import type { TestRuntime, TestRuntimeOptions } from '../../src/testing/index.ts'

export type Telling = {
  options?: Partial<TestRuntimeOptions>
  /** Virtual time stands still until it resolves. */
  outside?: () => Promise<void>
  /** The runtime is there: what the story is given of it. */
  begin?: (kit: TestRuntime) => Promise<Partial<Pick<TestRuntime, 'session' | 'crash' | 'restart'>>>
  /** The story is over, and the runtime still there, unless it was closed. */
  end?: (kit: TestRuntime) => Promise<void>
  /** Everything is closed. */
  gone?: () => Promise<void>
  /** How many timers run though nothing goes on; two are the host's own: for what is due, and for who may leave memory. */
  timersAtRest?: number
}

let next: () => Telling = () => ({})

/** How the next story is told. */
export const telling = (): Telling => next()

/** @returns what takes it back */
export const tellLike = (how: () => Telling): (() => void) => {
  const before = next
  next = how
  return () => {
    next = before
  }
}
