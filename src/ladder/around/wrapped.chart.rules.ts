/** States around a run, for code of its author: laid around the chart of a rung, and only where there is such code. Plain data. */
export const enterActor = 'enter()'
export const leaveActor = 'leave()'

type Arrow = { target: string; guard?: string; actions?: readonly string[] }
const whole = ({ context }: { context: object }) => context

/** @property cancel its arrow in the middle of this code @property refused the guard that says that it is not let in */
type Ways = { entered: string; completed: string; failed: string; cancel: object; refused: string; entry?: readonly string[] }

/** Code before and after a run, as an agent has it inside of its work, and others beside theirs. */
export const wrapStates = ({ entered, completed, failed, cancel, refused, entry }: Ways) => {
  const code = (actor: string, onDone: readonly Arrow[]) => ({
    on: { cancel },
    invoke: { id: actor, src: actor, input: whole, onDone, onError: { target: failed, actions: ['failAround'] } },
  })
  const ended = { guard: 'came to an end', target: completed, actions: ['takeAround', 'takeOutcome'] }
  const failing = { target: failed, actions: ['takeAround', 'takeOutcome'] }
  return {
    entering: {
      ...(entry && { entry }),
      ...code(enterActor, [ended, { guard: refused, ...failing }, { target: entered, actions: ['takeAround'] }]),
    },
    leaving: code(leaveActor, [ended, failing]),
  }
}

type Chart = { id: string; states: Readonly<Record<string, object>> }
type State = { always?: unknown; on?: Record<string, unknown> }

/** Targets by what they become; all else stays. */
const led = (chart: unknown, ways: Readonly<Record<string, string>>): unknown => {
  if (Array.isArray(chart)) return chart.map((one) => led(one, ways))
  if (typeof chart !== 'object' || chart === null) return chart
  return Object.fromEntries(
    Object.entries(chart).map(([key, value]) => [key, key === 'target' && typeof value === 'string' ? (ways[value] ?? value) : led(value, ways)]),
  )
}

/**
 * A chart that runs from `ready` to `completed` or `failed`, with code around that: what would end leads through `leaving` first, so that an outcome may be
 * another one. Cancelled runs do not. @param first where the run begins
 */
export const wrapped = <Whole extends Chart>(chart: Whole, first: string): Whole => {
  const { id, states } = chart
  const { ready, completed, failed, cancelled, returned, ...inner } = states as Record<string, State>
  const ends = { [`#${id}.completed`]: `#${id}.leaving`, [`#${id}.failed`]: `#${id}.leaving` }
  // Relative targets are those of the states beside them.
  const beside = { ...ends, completed: 'leaving', failed: 'leaving' }
  const { entering, leaving } = wrapStates({
    entered: first,
    completed: 'completed',
    failed: 'failed',
    refused: 'is turned away',
    cancel: { target: 'cancelled', actions: ['cancel'] },
  })
  const middle = Object.fromEntries(
    Object.entries(inner).map(([name, state]) => [name, led(state, 'states' in state || 'type' in state ? ends : beside)]),
  )
  const again = (state: State | undefined) => {
    const { resume } = state?.on ?? {}
    return {
      ...state,
      on: {
        ...state?.on,
        resume: [
          { guard: 'was not let in', target: 'entering', actions: ['mend'] },
          { guard: 'was done', target: 'leaving', actions: ['mend'] },
          ...[resume].flat(),
        ],
      },
    }
  }
  return {
    ...chart,
    states: {
      ready: led(ready, { [first]: 'entering' }),
      entering,
      leaving: { entry: ['noteDone'], ...leaving },
      ...middle,
      completed,
      failed: again(failed),
      cancelled: again(cancelled),
      returned,
    },
  }
}
