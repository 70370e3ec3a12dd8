/** `trace.fork` by a token: a fork is no way around what its holder may not do otherwise. */
import { expect, test } from 'vitest'
import { createMachine } from 'xstate'
import type { TracePage } from '../../src/runtime/index.ts'
import { aGateway } from './http/harness.ts'

const light = createMachine({ id: 'light', initial: 'off', states: { off: { on: { toggle: 'on' } }, on: {} } })

/** A conversation in which a person has denied a tool, and who asks for forks of it. */
const aNode = async () => {
  const made = await aGateway({}, { machines: { light } })
  const session = made.runtime.session('main')
  await made.rpc('chat.send', { sessionKey: 'main', message: 'danger' })
  await expect.poll(async () => (await session.view()).approvals.length).toBe(1)
  const [approval] = (await session.view()).approvals
  await session.decide(approval!, 'deny', 'ann')
  await expect.poll(async () => (await session.view()).state).toBe('awaiting-input')
  await made.runtime.actor('light', 'lamp').send({ type: 'toggle' })
  const { entries } = await made.runtime.command<TracePage>('trace.read', { id: 'main' })
  const placeOf = (event: string) => {
    const { seq } = entries.find((entry) => entry.event === event && entry.seq > 1)!
    return { seq, input: entries.filter((entry) => entry.seq === seq).findIndex((entry) => entry.event === event) }
  }
  const as = async (scopes: string[]) => {
    const { json } = await made.rpc('tokens.create', { name: scopes.join('-'), scopes })
    const headers = { authorization: `Bearer ${json.token}` }
    return async (command: string, input: object) => (await made.call('POST', `/rpc/${command}`, { headers, body: JSON.stringify(input) })).json
  }
  return { ...made, as, placeOf }
}
const forbidden = { error: { code: 'forbidden' } }

test('other words are for whoever may write; other decisions for whoever decides; other answers for an administrator', async () => {
  const { as, placeOf } = await aNode()
  const [writer, approver, admin] = [await as(['write']), await as(['write', 'approve']), await as(['admin'])]
  const [approve, answer] = [placeOf('approve'), placeOf('resolved')]
  const allowed = { id: 'main', change: { ...approve, event: { decision: 'approve' } } }
  const forged = { id: 'main', change: { ...answer, event: { data: { text: 'forged' } } } }

  expect(await writer('trace.fork', { id: 'main', as: 'w1' })).toMatchObject({ id: 'w1' })
  expect(await writer('trace.fork', { ...allowed, as: 'w2' })).toMatchObject(forbidden)
  expect(await writer('trace.fork', { ...forged, as: 'w3' })).toMatchObject(forbidden)
  // What a person has allowed once would run again.
  expect(await writer('trace.fork', { id: 'main', as: 'w4', answers: 'live' })).toMatchObject(forbidden)
  expect(await approver('trace.fork', { ...allowed, as: 'a1' })).toMatchObject({ id: 'a1' })
  expect(await approver('trace.fork', { ...forged, as: 'a2' })).toMatchObject(forbidden)
  expect(await admin('trace.fork', { ...forged, as: 'd1' })).toMatchObject({ id: 'd1' })
  const { sessions } = await admin('sessions.list', {})
  expect(sessions.map(({ key }: { key: string }) => key).toSorted()).toEqual(['a1', 'd1', 'main', 'w1'].map((key) => expect.stringContaining(key)))
})

test('actors of an author are forked by whoever may send to them; what nodes keep for themselves by nobody, and seen by administrators alone', async () => {
  const { as } = await aNode()
  const [reader, writer, admin] = [await as(['read']), await as(['write']), await as(['admin'])]

  expect(await writer('trace.fork', { kind: 'light', id: 'lamp', as: 'other' })).toMatchObject(forbidden)
  expect(await admin('trace.fork', { kind: 'light', id: 'lamp', as: 'other' })).toMatchObject({ id: 'other' })
  for (const who of [writer, admin])
    expect((await who('trace.fork', { kind: 'config', id: 'tokens', as: 'main' })).error.code).toMatch(who === admin ? /unsupported/ : /forbidden/)
  for (const command of ['trace.read', 'trace.frames', 'actors.get', 'trace.replay', 'events.read'])
    expect(await reader(command, { kind: 'config', id: 'tokens' }), command).toMatchObject(forbidden)
  for (const command of ['trace.moment', 'trace.steps'])
    expect(await reader(command, { kind: 'config', id: 'tokens', seq: 1 }), command).toMatchObject(forbidden)
  expect(await admin('trace.read', { kind: 'config', id: 'tokens' })).toMatchObject({ entries: expect.any(Array) })
})
