/** `statecast replay --against`: what an edited machine would have done with the inputs that came. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from '../tidy/sources.ts'
import { aFolder, aNode, changedApp, statecast, stopNode, tell, testApp } from './run.ts'

const aFolderWithActors = async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', testApp)
  await tell(node, 'light', 'hall', { type: 'toggle' })
  await tell(node, 'light', 'hall', { type: 'toggle' })
  for (const amount of [1, 9, 2]) await tell(node, 'tally', 't', { type: 'add', amount })
  await statecast({ folder }, 'send', 'main', 'hi')
  return { folder, node }
}

test('the first difference is reported with what came in, and nothing is written', async () => {
  const { folder, node } = await aFolderWithActors()
  await stopNode(node)
  const before = await statecast({ folder }, 'actors', '--all', '--json', '--app', testApp)

  const structure = await statecast({ folder }, 'replay', 'light/hall', '--against', changedApp, '--app', testApp)
  const content = await statecast({ folder }, 'replay', 'tally/t', '--against', changedApp, '--app', testApp)
  const json = await statecast({ folder }, 'replay', 'light/hall', '--against', changedApp, '--json')

  expect(structure.code).toBe(1)
  expect(structure.stdout).toMatch(
    /^different\n2 commits, 2 inputs\nanother structure: recorded by \w{16}, this one is \w{16}\n\/: on\nfirst difference: commit 1, \/\n {2}on: +\/ created, \/ toggle\n {2}recorded: "on"\n {2}replayed: "dim"\n$/,
  )
  expect(content.code).toBe(1)
  expect(content.stdout).toMatch(
    /^different\n3 commits, 3 inputs\nthe same structure \(\w{16}\)\n[\s\S]*first difference: commit 2\n {2}on: +\/ add\n/,
  )
  expect(content.stdout).toContain('the states agree; what the machine remembers')
  expect(JSON.parse(json.stdout)).toMatchObject({ verdict: 'different', difference: { seq: 1, path: '/', recorded: 'on', replayed: 'dim' } })
  expect((await statecast({ folder }, 'actors', '--all', '--json', '--app', testApp)).stdout).toBe(before.stdout)
})

test('it works beside a node that runs, and the unchanged module is identical', async () => {
  const { folder } = await aFolderWithActors()

  const same = await statecast({ folder }, 'replay', 'light/hall', '--against', testApp)
  const changed = await statecast({ folder }, 'replay', 'light/hall', '--against', changedApp)
  const earlier = await statecast({ folder }, 'replay', 'tally/t', '--against', changedApp, '--to', '1')
  const session = await statecast({ folder }, 'replay', 'main', '--against', changedApp)

  expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/^identical\n2 commits, 2 inputs\nthe same structure/) })
  expect(changed.stdout).toContain('first difference: commit 1, /')
  expect(earlier.stdout).toMatch(/^identical\n1 commits/)
  expect(session).toMatchObject({ code: 0, stdout: expect.stringMatching(/^identical\n/) })
})

test('a module without such a machine, one that is not there, and an actor that is not there are told apart', async () => {
  const { folder } = await aFolderWithActors()
  const other = join(repository, 'test/cli/fixtures/other.json')

  const without = await statecast({ folder }, 'replay', 'light/hall', '--against', other)
  const missing = await statecast({ folder }, 'replay', 'light/hall', '--against', 'nowhere.ts')
  const nobody = await statecast({ folder }, 'replay', 'light/nobody', '--against', changedApp)

  expect(without).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/has no machine 'light' \[bad_request\]\nhint: there are: config, heartbeat, provider, session/),
  })
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('nowhere.ts does not exist') })
  expect(nobody.code).toBe(4)
})
