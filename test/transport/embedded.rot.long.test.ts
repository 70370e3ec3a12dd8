/** Bits that changed by themselves: whatever they were part of, the store gives back everything or says that it cannot. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Transport } from '../../src/contracts/transport.ts'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { folders } from './folder.ts'
import { anEnvironment, aSession, bytesOf, textOf } from './harness.ts'

const aFolder = folders()
const open = (folder: string): Promise<Transport> => openEmbedded({ folder, environment: anEnvironment() })

/** Everything that was acknowledged, as text; a damaged inbox message counts as given back when it is among the dead letters. */
const everything = async ({ journal, inbox }: Transport): Promise<unknown> => {
  const frames = await Promise.all(['ill', 'well'].map((id) => journal.read(aSession(id), 1)))
  const heads = await journal.list()
  const due = await journal.due(10, 10)
  const messages = new Map<string, string>()
  inbox.consume('in.>', async (delivery) => {
    messages.set(delivery.id, textOf(delivery.data))
    await delivery.ack()
  })
  // A message that is not there at all never comes.
  for (let patience = 100; messages.size < 3 && patience > 0; patience -= 1) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    for (const { id } of await inbox.deadLetters()) messages.set(id, `message ${id}`)
  }
  return {
    frames: frames.map((list) => list.map(({ bytes }) => textOf(bytes))),
    heads,
    due,
    messages: [...messages].toSorted(([a], [b]) => a.localeCompare(b)),
  }
}

/** A folder as a killed process leaves it, and the same after a proper end. */
const aStore = async () => {
  const folder = aFolder()
  const transport = await open(folder)
  for (const id of ['ill', 'well'])
    for (let seq = 1; seq <= 4; seq += 1)
      await transport.journal.append(aSession(id), seq - 1, bytesOf(`frame ${seq} of ${id}`), { wakeAt: 5, at: 7 })
  for (const id of ['a', 'b', 'c']) await transport.inbox.put(`in.${id}`, id, bytesOf(`message ${id}`))
  const killed = aFolder()
  cpSync(folder, killed, { recursive: true })
  await transport.close()
  return { killed, closed: folder }
}

/** Always the same offsets, of bytes that say something. */
const offsetsIn = (content: Buffer, count: number): number[] => {
  const offsets = [...content.keys()].filter((at) => content[at] !== 0)
  return Array.from({ length: count }, (_, index) => offsets[(index * 7_919 + 13) % offsets.length]!)
}

/** @param bit 8 changes nothing @returns what is given back after the change of one bit, or the refusal */
const afterFlip = async (folder: string, name: string, at: number, bit: number): Promise<unknown> => {
  const copy = aFolder()
  cpSync(folder, copy, { recursive: true })
  const content = readFileSync(join(copy, name))
  content[at]! ^= 1 << bit
  writeFileSync(join(copy, name), content)
  let transport: Transport | undefined
  try {
    transport = await open(copy)
    return await everything(transport)
  } catch (error) {
    return error
  } finally {
    await transport?.close()
  }
}

test.each([
  ['the database', 'closed', 'statecast.db'],
  ['the write-ahead log of a killed process', 'killed', 'statecast.db-wal'],
] as const)(
  'after a bit flipped anywhere in %s all is given back, or the refusal says what to do; never less [INV-1, INV-3]',
  async (_, state, name) => {
    const folder = (await aStore())[state]
    const whole = await afterFlip(folder, name, 0, 8)
    const offsets = offsetsIn(readFileSync(join(folder, name)), 40)

    for (const [index, at] of offsets.entries()) {
      const answer = await afterFlip(folder, name, at, index % 8)
      if (!(answer instanceof Error)) expect({ at, answer }).toEqual({ at, answer: whole })
      else expect({ at, answer }).toMatchObject({ at, answer: { code: 'corrupt_at', hint: expect.stringMatching(/restore|backup/) } })
    }
    expect(whole).toMatchObject({ frames: [{ length: 4 }, { length: 4 }], heads: { length: 2 }, due: { length: 2 }, messages: { length: 3 } })
  },
)

test.each([
  ['a root', 'sessionwell'],
  ['an inbox message', 'in.b'],
  ['the state of an inbox message', 'waiting'],
])('an index in which %s has changed is refused, instead of hiding what it stands for', async (_, text) => {
  const { closed } = await aStore()
  const content = readFileSync(join(closed, 'statecast.db'))
  // A page begins where an index does, and the table itself keeps what it had.
  const places = [...content.keys()].filter((at) => content.subarray(at, at + text.length).equals(Buffer.from(text)))
  expect(places.length).toBeGreaterThan(1)

  for (const at of places) {
    const answer = await afterFlip(closed, 'statecast.db', at + text.length - 1, 1)
    expect(answer).toMatchObject({ code: 'corrupt_at', hint: expect.stringContaining('backup') })
  }
})

test('a store that is refused keeps the rest of its write-ahead log for who wants to salvage it', async () => {
  const { killed } = await aStore()
  const log = join(killed, 'statecast.db-wal')
  const content = readFileSync(log)
  content[Math.floor(content.length / 2)]! ^= 1
  writeFileSync(log, content)

  await expect(open(killed)).rejects.toMatchObject({ code: 'corrupt_at' })

  expect(readFileSync(log).equals(content)).toBe(true)
})
