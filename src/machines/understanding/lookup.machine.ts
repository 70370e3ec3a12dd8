import { assign, fromPromise, sendParent, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import { definedOf } from '../../contracts/defined.ts'
import type { LookUpInput, LookUpOutput, LookUpPlan, LookUpReport } from '../../contracts/understanding.ts'

type Context = LookUpPlan & { place: number; order: string | undefined }

/** ms that one candidate may take: for a link, and for what is larger than a page. */
const linkMs = 30_000
const mediaMs = 60_000

const onwards = [{ guard: 'hasNext', target: 'asking', reenter: true, actions: 'takeNext' }, { target: 'failed' }] as const

/** One link or one file: those who may know what is in it are asked one by one, until one answers. */
export const lookUpMachine = setup({
  types: { input: {} as LookUpPlan, context: {} as Context },
  actors: { lookUp: fromPromise<LookUpOutput, LookUpInput>(notProvided) },
  delays: { limit: ({ context }) => (context.item.kind === 'link' ? linkMs : mediaMs) },
  guards: { hasNext: ({ context: { place, candidates } }) => place + 1 < candidates.length },
  actions: {
    takeNext: assign({ place: ({ context }) => context.place + 1 }),
    keepOrder: assign((_, { order }: { order: string | undefined }) => ({ order })),
    report: sendParent(
      ({ context: { index, id, order } }, { found }: { found: boolean }): LookUpReport => ({
        type: 'lookup.ended',
        index,
        ...(found && { id, ...definedOf({ order }) }),
      }),
    ),
  },
}).createMachine({
  id: 'lookup',
  description: 'One link or file of a message: who may know what is in it is asked, one after the other.',
  context: ({ input }) => ({ ...input, place: 0, order: undefined }),
  initial: 'asking',
  states: {
    asking: {
      description: 'A candidate looks at it.',
      invoke: {
        id: 'candidate',
        src: 'lookUp',
        input: ({ context: { place, order: _, index: __, candidates, ...plan } }) => ({ ...plan, candidate: candidates[place] ?? '' }),
        onDone: { target: 'completed', actions: { type: 'keepOrder', params: ({ event }) => ({ order: event.output.order }) } },
        onError: onwards,
      },
      after: { limit: onwards },
    },
    completed: { type: 'final', entry: { type: 'report', params: { found: true } } },
    failed: {
      type: 'final',
      description: 'Nobody could say anything; the model is asked without it.',
      entry: { type: 'report', params: { found: false } },
    },
  },
})
