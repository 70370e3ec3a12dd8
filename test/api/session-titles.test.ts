import { expect, test } from 'vitest'
import { aGateway } from './http/harness.ts'

const listed = async ({ rpc }: Awaited<ReturnType<typeof aGateway>>) => (await rpc('sessions.list', { details: true })).json.sessions

const says = async ({ rpc }: Awaited<ReturnType<typeof aGateway>>, sessionKey: string, message: string) => {
  const { runId } = (await rpc('chat.send', { sessionKey, message })).json
  await rpc('agent.wait', { sessionKey, runId })
}

test('a conversation is called as it began, and shows what was said last; the newest comes first', async () => {
  const gateway = await aGateway()
  await says(gateway, 'a', 'how do I\n\n  boil an egg?')
  await says(gateway, 'b', 'and this one?')
  await says(gateway, 'b', 'thanks')

  expect(await listed(gateway)).toMatchObject([
    { key: 'b', title: 'and this one?', last: 'echo thanks', lastRole: 'assistant', busy: false },
    { key: 'a', title: 'how do I boil an egg?', last: 'echo how do I boil an egg?' },
  ])
})

test('its users can call it otherwise, and take that back', async () => {
  const gateway = await aGateway()
  await says(gateway, 'a', 'hello')

  await gateway.rpc('sessions.configure', { sessionKey: 'a', toggles: { title: 'Breakfast' } })
  expect(await listed(gateway)).toMatchObject([{ title: 'Breakfast' }])
  await gateway.rpc('sessions.configure', { sessionKey: 'a', toggles: { title: null } })
  expect(await listed(gateway)).toMatchObject([{ title: 'hello' }])
})

test.each(['', '  ', 'x'.repeat(201)])('%j is no title', async (title) => {
  const gateway = await aGateway()
  await says(gateway, 'a', 'hello')
  expect((await gateway.rpc('sessions.configure', { sessionKey: 'a', toggles: { title } })).status).toBeGreaterThanOrEqual(400)
})

test('a long beginning is cut between characters', async () => {
  const gateway = await aGateway()
  await says(gateway, 'a', `a${'🙂'.repeat(100)}`)
  const [{ title }] = await listed(gateway)
  expect(title.isWellFormed()).toBe(true)
  expect(title).toMatch(/^a(?:🙂){59}…$/u)
})
