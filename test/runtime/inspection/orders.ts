/** An order whose payment is an actor with a journal of its own, and what is heard of them on the bus. */
import { assign, forwardTo, setup } from 'xstate'
import type { InspectionMessage } from '../../../src/contracts/inspection-protocol.ts'
import type { Bus } from '../../../src/contracts/transport.ts'
import { remote } from '../../../src/index.ts'

export const payment = setup({
  types: { context: {} as { paid: number }, events: {} as { type: 'coin'; value: number }, output: {} as { paid: number } },
  actions: { take: assign({ paid: ({ context, event }) => context.paid + event.value }) },
  guards: { isEnough: ({ context, event }) => context.paid + event.value >= 5 },
}).createMachine({
  id: 'payment',
  context: { paid: 0 },
  initial: 'open',
  states: {
    open: { on: { coin: [{ guard: 'isEnough', target: 'paid', actions: 'take' }, { actions: 'take' }] } },
    paid: { type: 'final' },
  },
  output: ({ context }) => ({ paid: context.paid }),
})

export const order = setup({
  types: {
    input: {} as { payment: string; note?: unknown },
    context: {} as { payment: string; note?: unknown; paid: number },
    events: {} as { type: 'coin'; value: number } | { type: 'begin' } | { type: 'note' | 'more'; text: unknown },
  },
  actors: { payment: remote<{ paid: number }>('payment') },
  actions: {
    keep: assign({ paid: (_, { paid }: { paid: number }) => paid }),
    write: assign({ note: ({ event }) => (event as { text: unknown }).text }),
    add: assign({ note: ({ context, event }) => [context.note, (event as { text: unknown }).text] }),
    pass: forwardTo('payment'),
  },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({ ...input, paid: 0 }),
  initial: 'waiting',
  on: { note: { actions: 'write' }, more: { actions: 'add' } },
  states: {
    waiting: { on: { begin: 'paying' } },
    paying: {
      on: { coin: { actions: 'pass' } },
      invoke: {
        id: 'payment',
        src: 'payment',
        input: ({ context }) => ({ id: context.payment }),
        onDone: { target: 'done', actions: { type: 'keep', params: ({ event }) => event.output } },
      },
    },
    done: {},
  },
})

export const machines = { order, payment }

type Heard = InspectionMessage | { type: 'statecast.newest'; rootId: string; seq: number }

/** What is heard on a subject, from now on. */
export const hearing = (bus: Bus, pattern: string) => {
  const heard: Heard[] = []
  const stop = bus.subscribe(pattern, ({ data }) => void heard.push(JSON.parse(new TextDecoder().decode(data)) as Heard))
  const messages = () => heard.filter((one): one is InspectionMessage => one.type !== 'statecast.newest')
  return { heard, messages, stop }
}

/** A message as a line. */
export const line = (message: InspectionMessage): string => {
  const { type, sessionId } = message
  if (type === '@statecast.commit') return `${sessionId} commit ${message.seq}`
  if (type === '@xstate.actor')
    return `${sessionId} began below ${message.parentId ?? 'nobody'} as ${JSON.stringify(message.snapshot.value ?? message.snapshot.status)}`
  if (type === '@xstate.event') return `${sessionId} ← ${message.event.type} from ${message.sourceId ?? 'outside'}`
  if (type === '@xstate.microstep')
    return `${sessionId} asked ${message.candidates.map(({ guard, verdict }) => `${guard ?? '-'} ${verdict}`).join(', ')}; took ${message._transitions.map(({ source, eventType, index }) => `${source} ${eventType}[${index}]`).join(', ')}`
  const { status, value } = message.snapshot
  return `${sessionId} is ${status} ${JSON.stringify(value)} after ${message.event.type}; next ${message.next.map(({ eventType }) => eventType).join(', ')}`
}
