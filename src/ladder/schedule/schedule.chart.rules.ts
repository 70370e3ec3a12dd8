/**
 * The states and arrows of a schedule: one region for the time, one for the runs that it begins. They are the same for all schedules, whatever is chosen, so
 * that another choice refuses none that is under way. Plain data.
 */
import type { ScheduleState } from './schedule.context.ts'

export const reckonActor = 'reckon()'
export const lookActor = 'look()'
export const awaitActor = 'await()'
export const beginActor = 'begin()'

const stateOf = ({ context }: { context: ScheduleState }) => context

export const scheduleChart = (name: string) => ({
  id: name,
  type: 'parallel',
  on: { trigger: { actions: ['takeTrigger'] } },
  states: {
    time: {
      initial: 'ready',
      on: {
        pause: { target: '.paused', actions: ['tellPaused'] },
        stop: { target: '.stopped', actions: ['drop', 'tellStopped'] },
        plan: { guard: 'is another time', target: '.reckoning', actions: ['begin', 'tellPlanned'] },
      },
      states: {
        ready: { on: { plan: { target: 'reckoning', actions: ['begin', 'tellPlanned'] }, pause: {}, stop: {} } },
        reckoning: {
          entry: ['lookAtTime'],
          invoke: {
            id: reckonActor,
            src: reckonActor,
            input: stateOf,
            onDone: [
              { guard: 'is due again', target: 'waiting', actions: ['tellMissed', 'reckon'] },
              { target: 'over', actions: ['tellMissed', 'reckon'] },
            ],
            onError: { target: 'over', actions: ['tellLost'] },
          },
          on: { plan: [{ guard: 'is another time', target: 'reckoning', reenter: true, actions: ['begin', 'tellPlanned'] }, adopting] },
        },
        waiting: { after: { 'until it is due': 'reckoning' }, on: { plan: [replanning, adopting] } },
        over: { on: { plan: [replanning, adopting], start: { target: 'reckoning', actions: ['beginAgain', 'tellPlanned'] } } },
        paused: { on: { plan: adopting, pause: {}, resume: { target: 'reckoning', actions: ['skipToNow', 'tellResumed'] } } },
        stopped: { on: { plan: adopting, pause: {}, stop: {}, start: { target: 'reckoning', actions: ['beginAgain', 'tellPlanned'] } } },
      },
    },
    runs: {
      initial: 'idle',
      states: {
        idle: {
          always: [
            { guard: 'is begun at once', target: 'beginning' },
            { guard: 'is to be begun', target: 'looking' },
          ],
        },
        looking: {
          invoke: {
            id: lookActor,
            src: lookActor,
            input: stateOf,
            onDone: [
              { guard: 'was dropped', target: 'idle' },
              { guard: 'has ended', target: 'beginning' },
              { guard: 'skips', target: 'idle', actions: ['skip', 'tellSkipped'] },
              { target: 'awaiting' },
            ],
            // Nothing is known of it: whatever it was, it does not keep others from being begun.
            onError: [{ guard: 'was dropped', target: 'idle' }, { target: 'beginning' }],
          },
        },
        awaiting: {
          entry: ['tellQueued'],
          invoke: { id: awaitActor, src: awaitActor, input: stateOf, onDone: 'beginning', onError: 'beginning' },
          on: { stop: 'idle' },
        },
        beginning: {
          entry: ['attempt'],
          invoke: {
            id: beginActor,
            src: beginActor,
            input: stateOf,
            onDone: [
              { guard: 'tries again', target: 'pausing' },
              { guard: 'has failed', target: 'idle', actions: ['fail', 'tellFailed'] },
              { target: 'idle', actions: ['keep', 'tellFired'] },
            ],
            onError: { target: 'idle', actions: ['fail', 'tellFailed'] },
          },
        },
        pausing: { after: { 'pause before it is tried again': 'beginning' }, on: { stop: { target: 'idle', actions: ['giveUp', 'tellSkipped'] } } },
      },
    },
  },
})

const replanning = { guard: 'is another time', target: 'reckoning', actions: ['begin', 'tellPlanned'] }
const adopting = { actions: ['adopt'] }
