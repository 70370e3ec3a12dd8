/** Who may use what was uploaded: knowing the hash of a content is not having it. */
import { expect, test } from 'vitest'
import { aGateway } from '../http/harness.ts'

const content = Buffer.from('the secret').toString('base64')
const ours = 'agent:main:web:ours'
const theirs = 'agent:main:sms:theirs'

/** A node with two tokens, each bound to sessions of its own. */
const aNode = async () => {
  const made = await aGateway()
  const bound = async (name: string, pattern: string) => {
    const { token } = (await made.rpc('tokens.create', { name, scopes: ['write'], sessions: [pattern] })).json
    return (command: string, input: object) =>
      made.call('POST', `/rpc/${command}`, { headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(input) })
  }
  return { ...made, our: await bound('web', 'agent:main:web:*'), their: await bound('sms', 'agent:main:sms:*') }
}
const send = (sessionKey: string, id: string) => ({ sessionKey, message: 'look', attachments: [{ id }] })

test('[INV-19] a file that was uploaded into a session cannot be sent in another one by who knows its hash', async () => {
  const { rpc, our, their } = await aNode()
  const { id } = (await their('files.put', { sessionKey: theirs, content })).json

  expect((await our('chat.send', send(ours, id))).json.error).toMatchObject({ code: 'not_found', field: 'attachments.0.id' })
  expect((await rpc('chat.send', send(ours, id))).json.error).toMatchObject({ code: 'not_found' })
  expect((await our('files.get', { sessionKey: ours, id })).status).toBe(404)
  expect((await their('chat.send', send(theirs, id))).status).toBe(200)
  expect((await their('files.get', { sessionKey: theirs, id })).json.content).toBe(content)
})

test('[INV-19] what was uploaded without a session is for the token that did, and for that of the node', async () => {
  const { rpc, our, their } = await aNode()
  const { id } = (await their('files.put', { content })).json

  expect((await our('chat.send', send(ours, id))).json.error).toMatchObject({ code: 'not_found', field: 'attachments.0.id' })
  expect((await their('chat.send', send(theirs, id))).status).toBe(200)
  expect((await rpc('chat.send', send('main', id))).status).toBe(200)
})

test('[INV-19] what was sent with a message is not to be had by its hash in another session', async () => {
  const { our, their } = await aNode()
  await their('chat.send', { sessionKey: theirs, message: 'look', attachments: [{ content }] })
  const { id } = (await their('files.list', { sessionKey: theirs })).json.files[0]

  expect((await our('chat.send', send(ours, id))).status).toBe(404)
})
