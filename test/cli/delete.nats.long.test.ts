/** A deletion on NATS takes several steps, and a process may be killed between any two. */
import { expect, test } from 'vitest'
import { natsForAll } from '../support/nats.ts'
import { runProcess } from './processes.ts'
import { aFolder, statecast, testApp } from './run.ts'

const server = natsForAll()

test.each([1, 2])('[INV-13] killed at step %i of a deletion, the next use finishes it and begins a new conversation', async (hit) => {
  const how = { folder: aFolder(), env: { STATECAST_URL: server.url } }
  const key = `killed-${hit}`
  await statecast(how, 'send', key, 'hello', '--app', testApp)
  await statecast(how, 'send', key, 'hello again', '--app', testApp)

  const killed = await runProcess({ ...how, env: { ...how.env, STATECAST_FAILPOINTS: `K21:${hit}:kill` } }, 'delete', key, '--app', testApp)
  const next = await statecast(how, 'send', key, 'anew', '--app', testApp)
  const deleted = await statecast(how, 'delete', key, '--app', testApp)
  const after = await statecast(how, 'send', key, 'and again', '--app', testApp)
  const history = await statecast(how, 'history', key, '--app', testApp)

  expect(killed.code).toBe(null)
  expect(next).toMatchObject({ code: 0, stdout: 'echo anew\n' })
  expect(deleted.code).toBe(0)
  expect(after).toMatchObject({ code: 0, stdout: 'echo and again\n' })
  expect(history.stdout).not.toMatch(/hello|anew/)
})
