/** `statecast check`: what the charts say, and what traces have never been through. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from '../tidy/sources.ts'
import { aFolder, aNode, statecast, stopNode, tell } from './run.ts'

const app = join(repository, 'test/cli/fixtures/refunds.ts')

test('check names transitions that nothing recorded has taken, and by whom the rare ones were, from a folder and from traces alike', async () => {
  const how = { folder: aFolder() }
  const node = await aNode(how, '--app', app)
  for (const id of ['a', 'b', 'c']) await tell(node, 'refund', id, { type: 'ask', amount: 5 })
  await tell(node, 'refund', 'odd', { type: 'ask', amount: 500 })
  await statecast(how, 'send', 'main', 'hello')

  const beside = await statecast(how, 'check', '--app', app)
  await stopNode(node)
  const { code, stdout } = await statecast(how, 'check', '--kind', 'refund', '--app', app)

  expect(code).toBe(0)
  expect(stdout).toMatch(/^MACHINE +SESSIONS +STATES +TRANSITIONS +UNREACHABLE +DEAD ENDS\nrefund +4 +5\/7 +3\/6 +0 +0\n/)
  expect(stdout).toMatch(
    /refund: never taken\n {2}deciding {2}approve → paying\n {2}deciding {2}deny → refused\n {2}paying {2}error\(pay\) → failed\n/,
  )
  expect(stdout).toContain('refund: rare\n  waiting  ask [isLarge] → deciding  1 × refund/odd')
  // Of what an author has not written he is told how much of it was used, and where the rest is.
  expect(beside.stdout).toMatch(/\nsession +1 /)
  expect(beside.stdout).toContain('refund: never taken')
  expect(beside.stdout).not.toContain('session: never taken')
  expect(beside.stdout).toMatch(/only the counts are told: statecast check --kind session tells the rest\n$/)
  expect((await statecast(how, 'check', '--kind', 'session', '--app', app)).stdout).toContain('session: never taken')
  writeFileSync(join(how.folder, 'a.trace'), (await statecast(how, 'export', 'refund/a', '--redact', '--app', app)).stdout)
  const json = await statecast(how, 'check', '--kind', 'refund', '--traces', 'a.trace', '--app', app, '--json')
  expect(JSON.parse(json.lines[0] as string)).toMatchObject({ kind: 'refund', machine: { id: 'refund' }, sessions: 1, unreachable: [], deadEnds: [] })
})

test('without a machine of an author, ours are told in full; a machine without an id is called by its kind', async () => {
  const how = { folder: aFolder() }
  await statecast(how, 'send', 'main', 'hello')
  const { stdout } = await statecast(how, 'check')
  writeFileSync(
    join(how.folder, 'nameless.mts'),
    `import { createMachine } from '${join(repository, 'node_modules/xstate/dist/xstate.esm.js')}'
import { defineApp } from 'statecast'
const order = createMachine({ initial: 'a', states: { a: { on: { go: 'stuck', end: 'done' } }, stuck: {}, done: { type: 'final' } } })
export default defineApp({ machines: { order } })
`,
  )
  const nameless = await statecast(how, 'check', '--app', 'nameless.mts')
  const json = await statecast(how, 'check', '--kind', 'order', '--app', 'nameless.mts', '--json')
  const drawn = await statecast(how, 'machines', 'order', '--app', 'nameless.mts', '--format', 'scxml')

  expect(stdout).toContain('session: never taken')
  expect(nameless.stdout).toMatch(/\norder +0 /)
  expect(nameless.stdout).toContain('order: no end can be reached from\n  order.stuck\n')
  expect(json.stdout).toContain('"source":"order.a"')
  expect(drawn.stdout).toContain('name="order"')
  expect(nameless.stdout + json.stdout + drawn.stdout).not.toMatch(/[(_]machine/)
})

test('an unreachable state and a dead end are named, and end with exit code 1, without any trace; an unknown kind is refused', async () => {
  const how = { folder: aFolder() }
  writeFileSync(
    join(how.folder, 'bad.mts'),
    `import { createMachine } from '${join(repository, 'node_modules/xstate/dist/xstate.esm.js')}'
import { defineApp } from 'statecast'
const bad = createMachine({ id: 'bad', initial: 'a', states: { a: { on: { go: 'stuck', end: 'done' } }, stuck: {}, lost: {}, done: { type: 'final' } } })
export default defineApp({ machines: { bad } })
`,
  )

  const { code, stdout } = await statecast(how, 'check', '--app', 'bad.mts')

  expect(code).toBe(1)
  expect(stdout).toContain('bad: nothing leads to\n  bad.lost')
  expect(stdout).toContain('bad: no end can be reached from\n  bad.stuck')
  expect(stdout).not.toContain('never taken')
  expect(await statecast(how, 'check', '--kind', 'worse', '--app', 'bad.mts')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no machine 'worse'"),
  })
})

test('traces that cannot be folded are told, and end with exit code 1: what was not looked at is not well', async () => {
  const how = { folder: aFolder() }
  mkdirSync(join(how.folder, 'traces'))
  for (const name of ['one', 'two']) writeFileSync(join(how.folder, `traces/${name}.trace`), 'hello\n')

  const { code, stderr } = await statecast(how, 'check', '--kind', 'refund', '--traces', 'traces', '--app', app)

  expect(code).toBe(1)
  expect(stderr).toMatch(/traces\/one\.trace.*\[bad_request\]/)
  expect(stderr).toContain('2 could not be folded, and count for nothing')
})
