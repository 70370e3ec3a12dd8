import { emit, setup, stateIn } from 'xstate'

/** ms between two deltas of a run: about as often as a reader can tell them apart. */
const deltaMs = 150

/**
 * How often those who watch a run are shown what is new of it: the first at once, then one each 150 ms as long as there is something new, and what waits
 * right before anything that must not overtake it.
 */
export const paceMachine = setup({
  types: {
    /** `changed`: there is something new. `flush`: what waits has to be shown now. */
    events: {} as { type: 'changed' } | { type: 'flush' },
    emitted: {} as { type: 'show' },
  },
  guards: { isBehind: stateIn({ resting: 'behind' }) },
  actions: { show: emit({ type: 'show' }) },
  delays: { pause: deltaMs },
}).createMachine({
  id: 'pace',
  initial: 'ready',
  states: {
    ready: { on: { changed: { target: 'resting', actions: 'show' } } },
    resting: {
      initial: 'shown',
      states: {
        shown: {},
        behind: { on: { flush: { target: 'shown', actions: 'show' } } },
      },
      on: { changed: '.behind' },
      after: {
        pause: [{ guard: 'isBehind', target: 'resting', reenter: true, actions: 'show' }, { target: 'ready' }],
      },
    },
  },
})
