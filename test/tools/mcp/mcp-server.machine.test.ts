/** When an MCP server is connected to, and when no more. */
import { expect, test } from 'vitest'
import { createActor, fromCallback, fromPromise } from 'xstate'
import { actorClock } from '../../../src/contracts/environment.ts'
import { RuntimeError } from '../../../src/contracts/errors.ts'
import { type McpServerEvent, mcpServerMachine } from '../../../src/tools/mcp/mcp-server.machine.ts'
import { virtualClock } from '../../models/fixtures.ts'

const passing = new RuntimeError('log_unavailable', 'it is not there', { retryable: true })

const aServer = () => {
  const clock = virtualClock()
  const links: boolean[] = []
  const lists: (() => void)[] = []
  const actor = createActor(
    mcpServerMachine.provide({
      actors: {
        link: fromCallback<McpServerEvent>(() => {
          const at = links.push(true) - 1
          return () => void (links[at] = false)
        }),
        list: fromPromise(() => new Promise<void>((resolve) => void lists.push(resolve))),
      },
    }),
    { input: { server: 'github', connectMs: 15_000 }, clock: actorClock(clock) },
  ).start()
  const send = (...types: ('use' | 'opened' | 'changed' | 'close')[]) => {
    for (const type of types) actor.send({ type })
  }
  return {
    clock,
    links,
    lists,
    actor,
    send,
    lose: (error: unknown = passing) => actor.send({ type: 'lost', error }),
    state: () => actor.getSnapshot().value,
  }
}

test('nothing is there until somebody wants it', () => {
  const { links, send, state } = aServer()

  expect([state(), links]).toEqual(['idle', []])
  send('use', 'use', 'opened')

  expect([state(), links]).toEqual([{ linked: { ready: 'resting' } }, [true]])
})

test('what is lost is looked for after longer and longer pauses, and after six in a row no more, until somebody wants it a minute later', async () => {
  const { clock, links, send, lose, state } = aServer()
  send('use')

  const pauses: number[] = []
  for (lose(); state() === 'backing-off'; lose()) {
    const from = clock.now()
    while (state() === 'backing-off') await clock.advance(500)
    pauses.push(clock.now() - from)
  }
  send('use')

  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000])
  expect([state(), links.length]).toEqual(['failed', 6])
  await clock.advance(60_000)
  expect(state()).toBe('idle')
  send('use')
  expect(state()).toEqual({ linked: 'connecting' })
})

test('what will not be otherwise is not tried again at once', () => {
  const { send, lose, state, actor } = aServer()
  send('use')

  lose(new RuntimeError('not_found', 'no such program'))

  expect(state()).toBe('failed')
  expect(actor.getSnapshot().context.error).toMatchObject({ code: 'not_found' })
})

test('one that does not answer in time is hung up on', async () => {
  const { clock, links, send, state, actor } = aServer()
  send('use')

  await clock.advance(15_000)

  expect([state(), links]).toEqual(['backing-off', [false]])
  expect(actor.getSnapshot().context.error).toMatchObject({ code: 'timeout', hint: expect.stringContaining('connectMs') })
})

test('a connection that lasted begins the count anew', async () => {
  const { clock, send, lose, actor } = aServer()
  send('use')
  lose()
  await clock.advance(500)
  send('opened')
  const before = actor.getSnapshot().context.attempt

  await clock.advance(30_000)

  expect([before, actor.getSnapshot().context.attempt]).toEqual([1, 0])
})

test('a server that says again and again that its tools are others is asked once in a while', async () => {
  const { clock, lists, send, state } = aServer()
  send('use', 'opened', 'changed', 'changed')
  await clock.advance(500)
  send('changed', 'changed', 'changed')
  lists[0]?.()
  await clock.advance(0)

  expect([lists.length, state()]).toEqual([1, { linked: { ready: 'settling' } }])
  await clock.advance(500)
  lists[1]?.()
  await clock.advance(0)
  expect([lists.length, state()]).toEqual([2, { linked: { ready: 'resting' } }])
})

test.each(['idle', 'connecting', 'ready', 'backing-off', 'failed'])('from %s it is closed for good', (from) => {
  const { links, send, lose, actor } = aServer()
  if (from !== 'idle') send('use')
  if (from === 'ready') send('opened')
  if (from === 'backing-off') lose()
  if (from === 'failed') lose(new RuntimeError('not_found', 'gone'))

  send('close', 'use')

  expect(actor.getSnapshot()).toMatchObject({ status: 'done', value: 'closed' })
  expect(links.every((open) => !open)).toBe(true)
})
