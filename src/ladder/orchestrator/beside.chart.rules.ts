/** The states and arrows of a session without a lock: its turns run beside each other, each as an actor inside of it that goes through the phases. Plain data. */
import { phasesOf } from './session.chart.rules.ts'

/** One turn, or a compaction that was commanded. */
export const besideLogic = 'phases'

export const besideChartOf = (name: string) => ({
  id: name,
  initial: 'awaiting-input',
  on: {
    execute: [{ guard: 'is known' }, { actions: ['enqueue'] }],
    cancel: [{ guard: 'is queued', actions: ['withdraw'] }, { actions: ['passDown'] }],
    'turn.placed': { actions: ['notePlace'] },
    'turn.stored': { actions: ['noteStored'] },
    'xstate.done.actor.*': { actions: ['takeAnswer', 'drop'] },
    'xstate.error.actor.*': { actions: ['breakTurn', 'drop'] },
  },
  states: {
    'awaiting-input': { always: { guard: 'may begin another', target: 'beginning' } },
    // One by one, so that numbers are given in the order in which turns were asked for.
    beginning: {
      entry: ['begin'],
      always: { guard: 'has begun', target: 'working' },
      on: { 'turn.loaded': { actions: ['number'] } },
    },
    working: {
      always: [
        { guard: 'may begin another', target: 'beginning' },
        { guard: 'has no turns', target: 'awaiting-input' },
      ],
    },
  },
})

export const phasesChartOf = (name: string) => ({
  id: `${name}-phases`,
  initial: 'running',
  states: { ...phasesOf('answered', true), answered: { type: 'final' } },
})
