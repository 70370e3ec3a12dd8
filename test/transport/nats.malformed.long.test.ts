/** Messages on subjects that name no actor, as any client of NATS may publish them: none is lost, each is put aside with the reason. */

import { connect as connectTcp } from 'node:net'
import { connect } from '@nats-io/transport-node'
import { expect, onTestFinished, test } from 'vitest'
import { partsOf } from '../../src/runtime/index.ts'
import { createRuntime, type Runtime } from '../../src/runtime.ts'
import { natsForAll } from '../support/nats.ts'

const server = natsForAll()

let count = 0
const aNode = async (): Promise<{ runtime: Runtime; prefix: string }> => {
  const prefix = `malformed-${++count}`
  const runtime = await createRuntime({ transport: server.url, prefix })
  onTestFinished(() => runtime.close())
  return { runtime, prefix }
}

/** Clients check what they publish; the server takes nearly everything. */
const publishRaw = async (subjects: readonly string[], text = 'hello'): Promise<void> => {
  const socket = connectTcp(server.port, '127.0.0.1').on('error', () => undefined)
  const pong = new Promise<void>((resolve) => socket.on('data', (data) => data.includes('PONG') && resolve()))
  socket.write('CONNECT {"verbose":false,"pedantic":false}\r\n')
  for (const subject of subjects) socket.write(`PUB ${subject} ${text.length}\r\n${text}\r\n`)
  socket.write('PING\r\n')
  await pong
  socket.destroy()
}

const letters = async (runtime: Runtime) => (await partsOf(runtime).transport.inbox.deadLetters()).sort((a, b) => (a.subject < b.subject ? -1 : 1))

test('too few tokens, too many, and wildcards for tokens go to the dead letters with the reason; what is well-formed is delivered', async () => {
  const { runtime, prefix } = await aNode()
  const malformed = ['in', 'in.session', 'in.session.a.b', 'in.session.a.b.c', 'in.session.*', 'in.session.>', 'in.*.x', 'in.>'].map(
    (rest) => `${prefix}.${rest}`,
  )

  await publishRaw([...malformed, `${prefix}.in.session.well`], '{"type":"message","text":"hi"}')

  await expect.poll(async () => (await letters(runtime)).length).toBe(malformed.length)
  const found = await letters(runtime)
  expect(found.map(({ subject }) => subject)).toEqual([...malformed].sort())
  for (const { reason, data, id } of found) {
    expect(JSON.parse(reason)).toMatchObject({ code: 'bad_request', message: expect.stringContaining('no actor'), hint: expect.any(String) })
    expect(Buffer.from(data).toString()).toBe('{"type":"message","text":"hi"}')
    expect(id).not.toBe('')
  }
  await expect
    .poll(
      async () =>
        (
          await runtime
            .session('well')
            .history()
            .catch(() => [])
        ).length,
    )
    .toBe(2)
})

test('NUL, control characters, bytes beyond ASCII and wildcards within a token are put aside too', async () => {
  const { runtime, prefix } = await aNode()
  // Without U+007F: nats-server 2.15 stores such a subject and shows it to no consumer.
  const bad = ['a\0b', '\u0001', 'é', 'a*b', 'a>b', '=zz'].map((id) => `${prefix}.in.session.${id}`)

  await publishRaw(bad, '{"type":"message","text":"hi"}')

  await expect.poll(async () => (await letters(runtime)).map(({ subject }) => subject)).toEqual([...bad].sort())
  for (const { reason } of await letters(runtime)) expect(JSON.parse(reason)).toMatchObject({ code: 'bad_request' })
})

test('what was published while no node ran is put aside by the next one; one that asks gets the receipt of the store', async () => {
  const { runtime, prefix } = await aNode()
  await runtime.close()
  const nc = await connect({ servers: server.url })
  const receipt = (await nc.request(`${prefix}.in.session`, 'lost?')).json()
  await nc.close()

  const next = await createRuntime({ transport: server.url, prefix })
  onTestFinished(() => next.close())

  expect(receipt).toMatchObject({ stream: `${prefix.toUpperCase()}_INBOX` })
  await expect.poll(async () => (await letters(next)).map(({ subject }) => subject)).toEqual([`${prefix}.in.session`])
})
