/** A run that ends is told of twice: as an event, and by its report to those who observe it. */
import { enqueueActions } from 'xstate'
import type { RunState } from './run.rules.ts'

type Word = { type: string } & Record<string, unknown>
/** Called on the node of a run when its end is written down. */
export type WhenEnded = (run: RunState) => void

/** What the names mean that the charts of all rungs share in their ends. Their types are those of the machine that takes them. */
export const endActions = <Run extends RunState>(
  ended: WhenEnded,
  word: (type: string, run: Run, more?: object) => Word,
  completed: (run: Run) => object = () => ({}),
): Record<string, never> => {
  const telling = (said: (run: Run) => Word): unknown =>
    enqueueActions(({ context, enqueue }) => {
      enqueue.emit(said(context as Run))
      enqueue({ type: 'observe' })
    })
  return {
    observe: ({ context }: { context: RunState }) => ended(context),
    tellCompleted: telling((run) => word('completed', run, completed(run))),
    tellFailed: telling((run) => word('error', run, { error: run.error })),
    tellCancelled: telling((run) => word('cancelled', run, { error: run.error })),
  } as unknown as Record<string, never>
}
