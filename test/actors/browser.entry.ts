/** What browser.test.ts bundles for a browser: every chart, what folds a journal, a client of a gateway, and a machine as a user writes one. Texts go in and come out. */
import { assign, setup } from 'xstate'
import { chart, machineSignature, registerMachine, replay, toMermaid } from '../../src/actors/index.ts'
import { machines } from '../../src/all-machines.ts'
import { deliveryMachine } from '../../src/chat/delivery/delivery.machine.ts'
import { chatPublisher } from '../../src/chat/delivery/render.rules.ts'
import { deskMachine } from '../../src/chat/desk/desk.machine.ts'
import { type ChatAction, emptyView, socketClient, viewOf } from '../../src/client/socket/index.ts'
import { partitionOf } from '../../src/contracts/placement.ts'
import type { Address } from '../../src/contracts/subjects.ts'
import type { Journal } from '../../src/contracts/transport.ts'
import { sessionMachine, withDesk } from '../../src/machines/session/session.machine.ts'
import { turnWith } from '../../src/machines/turn/turn.machine.ts'
import { now, random, uuid } from '../../src/runtime/moment.ts'

const types = {} as { context: { id: string; drawn: unknown[] } }

/** It asks for time and chance wherever it can, which only a replay that hashes as the recording did gives it again. */
export const lotteryMachine = setup({
  types,
  guards: { lucky: () => random() < 0.5 },
}).createMachine({
  id: 'lottery',
  context: () => ({ id: uuid(), drawn: [] }),
  initial: 'open',
  states: {
    open: { on: { draw: [{ guard: 'lucky', target: 'won' }, { target: 'lost' }] } },
    won: { after: { 1000: 'open' } },
    lost: { after: { 2000: 'open' } },
  },
  on: { note: { actions: assign({ drawn: ({ context }) => [...context.drawn, now(), random(), uuid()] }) } },
})

/** A conversation as chat extends it. */
const conversation = withDesk(sessionMachine.provide({ actors: { turn: turnWith(chatPublisher(deliveryMachine)) } }), { logic: deskMachine })
const all = { ...machines, session: conversation, lottery: lotteryMachine }

export const drawn = (): string =>
  JSON.stringify(Object.entries(all).map(([name, machine]) => [name, machineSignature(machine), chart(machine), toMermaid(chart(machine))]))

export const partition = (address: Address): number => partitionOf(address)

type Bytes = readonly number[]

export const fold = async ({ kind, id }: Address, frames: readonly Bytes[]): Promise<string> => {
  const read: Journal['read'] = async (_, from, { limit = Number.POSITIVE_INFINITY } = {}) =>
    frames.map((bytes, index) => ({ seq: index + 1, bytes: Uint8Array.from(bytes) })).slice(from - 1, from - 1 + limit)
  return JSON.stringify(await replay({ read } as Journal, { kind, id }, registerMachine(kind, all[kind as keyof typeof all])))
}

/** A page that connects, hears a session until something was said in it, and draws that. */
export const watch = async (url: string, token: string, sessionKey: string): Promise<string> => {
  const client = socketClient({ url, token, client: { name: 'page' } })
  await client.ready()
  let view = viewOf(emptyView(sessionKey), { type: 'connected' })
  const drawn = Promise.withResolvers<string>()
  client.subscribe(sessionKey, (heard: ChatAction) => {
    view = viewOf(view, heard)
    if (view.entries.length > 0) drawn.resolve(JSON.stringify(view.entries))
  })
  return drawn.promise.finally(() => client.close())
}
