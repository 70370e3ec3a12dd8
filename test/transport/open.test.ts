import { expect, test } from 'vitest'
import { openTransport as offered } from '../../src/index.ts'
import { openTransport } from '../../src/transport/open.ts'
import { folders } from './folder.ts'
import { anEnvironment } from './harness.ts'

const aFolder = folders()
const environment = anEnvironment()

test('a url chooses the backend', async () => {
  const [disk, memory] = [await openTransport(`embedded:${aFolder()}`, { environment }), await openTransport('memory:', { environment })]

  expect([disk.name, disk.capabilities.durable]).toEqual(['embedded', true])
  expect([memory.name, memory.capabilities.durable]).toEqual(['memory', false])
  await Promise.all([disk.close(), memory.close()])
})

test('a NATS server that is not there is an error that says what to do', async () => {
  await expect(openTransport('nats://user:secret@127.0.0.1:9', { environment })).rejects.toMatchObject({
    code: 'log_unavailable',
    message: expect.not.stringContaining('secret'),
    hint: expect.stringContaining('nats-server'),
  })
})

test.each(['', 'embedded:', 'redis://localhost', './folder', 'nats'])("'%s' is no transport, and the answer says what to write", async (url) => {
  await expect(openTransport(url, { environment })).rejects.toMatchObject({ code: 'bad_request', hint: expect.stringContaining('embedded:') })
})

test('a refused url does not show its password', async () => {
  await expect(openTransport('redis://user:secret@host', { environment })).rejects.not.toThrow(/secret/)
})

test('what the package offers needs no environment', async () => {
  const transport = await offered('memory:')

  expect(await transport.health()).toMatchObject({ writable: true })
  await transport.close()
})
