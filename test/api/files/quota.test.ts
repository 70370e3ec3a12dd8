/** Uploads that no message names have limits, by token and in all. */
import { expect, test } from 'vitest'
import { aGateway } from '../http/harness.ts'

const content = (letter: string) => Buffer.from(letter.repeat(40_000)).toString('base64')
const key = 'agent:main:web:mine'

const aNode = async (uploads: { bytesPerToken?: number; bytesMax?: number }) => {
  const made = await aGateway({}, { uploads })
  const { token } = (await made.rpc('tokens.create', { name: 'page', scopes: ['write'] })).json
  const own = (command: string, input: object) =>
    made.call('POST', `/rpc/${command}`, { headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(input) })
  return { ...made, own }
}

test('uploads of a token that come at once are refused beyond its limit, also into a session; a message that takes one makes room', async () => {
  const { own, rpc } = await aNode({ bytesPerToken: 100_000 })
  const first = (await own('files.put', { content: content('a') })).json
  expect((await own('files.put', { content: content('b'), sessionKey: key })).status).toBe(200)

  const more = await Promise.all(['c', 'd', 'e'].map((letter) => own('files.put', { content: content(letter), sessionKey: key })))

  expect(more.map(({ json }) => json.error.code)).toEqual(['overloaded', 'overloaded', 'overloaded'])
  expect(more[0]?.json.error.hint).toContain('send a message')
  expect((await rpc('files.put', { content: content('f') })).status).toBe(200)
  expect((await own('chat.send', { sessionKey: key, message: 'look', attachments: [{ id: first.id }] })).status).toBe(200)
  expect((await own('files.put', { content: content('g') })).status).toBe(200)
})

test('all uploads together have a limit, that of the node included', async () => {
  const { own, rpc } = await aNode({ bytesMax: 100_000 })
  await own('files.put', { content: content('a') })
  await rpc('files.put', { content: content('b') })

  expect((await rpc('files.put', { content: content('c') })).json.error.code).toBe('overloaded')
})

test('uploads with the token of the node have the limit of a token', async () => {
  const { rpc } = await aNode({ bytesPerToken: 100_000 })
  await rpc('files.put', { content: content('a') })
  await rpc('files.put', { content: content('b') })

  expect((await rpc('files.put', { content: content('c') })).json.error).toMatchObject({
    code: 'overloaded',
    message: expect.stringContaining('of this token'),
  })
})
