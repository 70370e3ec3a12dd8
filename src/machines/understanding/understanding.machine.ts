import { assign, enqueueActions, fromPromise, sendParent, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import type { LookUpPlan, LookUpReport, SpokenInput, UnderstandingInput, UnderstandingReport } from '../../contracts/understanding.ts'
import { lookUpName, plansOf } from './items.rules.ts'
import { lookUpMachine } from './lookup.machine.ts'

type Context = {
  input: UnderstandingInput
  plans: LookUpPlan[]
  launched: number[]
  /** By the place of the look-up, what became of it. */
  ended: (LookUpReport | null)[]
  /** It could be said in the place of who spoke it. */
  spoken: boolean
}

/** Images, recordings and videos that are looked at side by side; they are large, and models are asked about them. */
const mediaAtOnce = 2

const launchable = ({ plans, launched, ended }: Context): number[] => {
  let room = mediaAtOnce - launched.filter((index) => plans[index]?.item.kind !== 'link' && ended[index] === null).length
  return plans.flatMap(({ item, index }) => (launched.includes(index) || (item.kind !== 'link' && room-- <= 0) ? [] : [index]))
}

/** The order that the only recording of a message holds. */
const orderIn = ({ ended }: Context): string | undefined => ended.find((report) => report?.order !== undefined)?.order

const reportOf = ({ input: { unread }, ended, plans, spoken }: Context): UnderstandingReport => ({
  type: 'understood',
  ids: unread.map(({ id }) => id),
  found: unread.flatMap(({ id, items }) => {
    const own = items.map((_, place) => plans.findIndex((plan) => plan.id === lookUpName(id, place)))
    const names = own.flatMap((index) => ended[index]?.id ?? [])
    return names.length === 0 ? [] : [{ id, names }]
  }),
  spoken,
})

/**
 * What there is to look up in messages before a model is shown them: links all at once, media two at a time. What nobody can say anything of is left out. A
 * recording that holds an order of a person, such as a stop word, is said in words instead.
 */
export const understandingMachine = setup({
  types: { input: {} as UnderstandingInput, context: {} as Context, events: {} as LookUpReport },
  actors: { lookup: lookUpMachine, say: fromPromise<null, SpokenInput>(notProvided) },
  guards: {
    hasOrder: ({ context }) => context.ended.every((report) => report !== null) && orderIn(context) !== undefined,
    allEnded: ({ context }) => context.ended.every((report) => report !== null),
  },
  actions: {
    launch: enqueueActions(({ context, enqueue }) => {
      const next = launchable(context)
      if (next.length === 0) return
      enqueue.assign(({ spawn }) => {
        for (const index of next) spawn('lookup', { id: `lookup-${index}`, input: context.plans[index] as LookUpPlan })
        return { launched: [...context.launched, ...next] }
      })
    }),
    keepReport: assign({ ended: ({ context, event }) => context.ended.with(event.index, event) }),
    noteSpoken: assign({ spoken: true }),
    report: sendParent(({ context }) => reportOf(context)),
  },
}).createMachine({
  id: 'understanding',
  description: 'Looks up links and media of messages before a model is shown them.',
  context: ({ input }) => {
    const plans = plansOf(input)
    return { input, plans, launched: [], ended: plans.map(() => null), spoken: false }
  },
  initial: 'looking',
  states: {
    looking: {
      description: 'Links and media are looked at.',
      entry: 'launch',
      on: { 'lookup.ended': { actions: ['keepReport', 'launch'] } },
      always: [
        { guard: 'hasOrder', target: 'saying' },
        { guard: 'allEnded', target: 'ended' },
      ],
    },
    saying: {
      description: 'What was spoken is an order: it is said in words, as a message of its own.',
      invoke: {
        id: 'say',
        src: 'say',
        input: ({ context }) => {
          const { session, runId, agent, unread } = context.input
          const [{ id: message, annotations = {} } = { id: '' }] = unread
          return { session, runId, agent, message, annotations, text: orderIn(context) ?? '' }
        },
        onDone: { target: 'ended', actions: 'noteSpoken' },
        onError: 'ended',
      },
    },
    ended: { type: 'final', entry: 'report' },
  },
})
