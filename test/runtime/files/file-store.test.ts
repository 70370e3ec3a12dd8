import { expect, test } from 'vitest'
import { FileStore } from '../../../src/runtime/files/file-store.ts'
import { virtualClock } from '../../../src/testing/index.ts'
import { openMemory } from '../../../src/transport/memory/open.ts'
import { aGateway } from '../../api/http/harness.ts'
import { anEnvironment } from '../../transport/harness.ts'

const text = (value: string) => new TextEncoder().encode(value)
const hourMs = 3_600_000

const aStore = async () => {
  const clock = virtualClock()
  const environment = { ...anEnvironment(), clock }
  const transport = await openMemory({ environment })
  const files = new FileStore(transport, environment)
  const put = async (content: string) => (await files.put({ bytes: text(content), fileName: `${content}.txt` }, 'content')).file!
  return { clock, files, put, blobs: transport.blobs }
}

test('what was uploaded and not sent goes after a day, with the next upload; what a session names stays', async () => {
  const { clock, files, put, blobs } = await aStore()
  const forgotten = await put('forgotten')
  const sent = await put('sent')
  await files.link('main', [sent])

  await clock.advance(23 * hourMs)
  await put('a day later')
  expect(await blobs.has(forgotten.id)).toBe(true)
  await clock.advance(2 * hourMs)
  await put('two days later')

  expect([await blobs.has(forgotten.id), await blobs.has(sent.id)]).toEqual([false, true])
  await expect(files.link('main', [forgotten])).rejects.toMatchObject({ code: 'not_found', field: 'files.0.id' })
})

test('one session does not name the file of another; a thread shares those of its parent', async () => {
  const { clock, files, put, blobs } = await aStore()
  const file = await put('shared')
  await files.link('parent', [file])
  await clock.advance(25 * hourMs)
  await put('the day after')

  await expect(files.link('stranger', [file])).rejects.toMatchObject({ code: 'not_found' })
  await files.share('thread', await files.list('parent'))
  await files.forget('parent')

  expect(await files.list('parent')).toEqual([])
  expect((await files.read('thread', file.id)).file).toEqual(file)
  await files.forget('thread')
  expect(await blobs.has(file.id)).toBe(false)
})

test('a thread has the files of what its parent said', async () => {
  const { rpc } = await aGateway()
  const say = async (sessionKey: string, more: object) => {
    const { json } = await rpc('chat.send', { sessionKey, message: 'look', ...more })
    await rpc('agent.wait', { sessionKey, runId: json.runId })
  }
  await say('main', { attachments: [{ fileName: 'notes.txt', content: 'aGVsbG8=' }] })

  await say('thread', { parent: 'main' })

  expect((await rpc('files.list', { sessionKey: 'thread' })).json.files).toMatchObject([{ fileName: 'notes.txt' }])
})
