import { assign, emit, setup } from 'xstate'
import type { ConfigContext, ConfigEvent, ConfigInput, ConfigOutput } from './config.context.ts'

/**
 * A document that all nodes share. Whoever writes names the hash of what it has read: of two who have read the same, the second is refused.
 */
export const configMachine = setup({
  types: {
    input: {} as ConfigInput,
    context: {} as ConfigContext,
    events: {} as ConfigEvent,
    emitted: {} as ConfigOutput,
  },
  guards: { hasReadIt: ({ context, event }) => event.baseHash === context.hash },
  actions: {
    keep: assign(({ event: { value, hash, at } }) => ({ value, hash, at })),
    announce: emit(({ event: { hash } }): ConfigOutput => ({ type: 'written', hash })),
    refuse: emit({
      type: 'refused',
      code: 'conflict',
      message: 'the configuration has changed since it was read',
      hint: 'reload and retry: config.get gives the present hash',
    } satisfies ConfigOutput),
  },
}).createMachine({
  id: 'config',
  description: 'A document that all nodes share, such as the configuration: written only by who has read it as it is.',
  context: ({ input }) => ({ ...input, at: 0 }),
  initial: 'kept',
  states: {
    kept: {
      description: 'The newest version is known.',
      on: { write: [{ guard: 'hasReadIt', actions: ['keep', 'announce'] }, { actions: 'refuse' }] },
    },
  },
})
