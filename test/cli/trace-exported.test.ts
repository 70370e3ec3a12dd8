/** `statecast trace --traces`: what stands in a file, before it is given away. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createRuntime } from '../../src/runtime.ts'
import { aFolder, statecast, testApp } from './run.ts'

test('an exported trace is read event by event, as its conversation was; a redacted one holds nothing that was said', async () => {
  const how = { folder: aFolder() }
  const run = (...args: string[]) => statecast(how, ...args, '--app', testApp)
  await run('send', 'main', 'my number is secret')
  const original = await run('trace', 'main')
  writeFileSync(join(how.folder, 'a.trace'), (await run('export', 'main', '--redact')).stdout)
  const elsewhere = { folder: aFolder() }

  const read = await statecast(elsewhere, 'trace', '--traces', join(how.folder, 'a.trace'))
  const json = await statecast(elsewhere, 'trace', '--traces', join(how.folder, 'a.trace'), '--json')

  expect(read).toMatchObject({ code: 0, stderr: expect.stringContaining('a.trace: session/') })
  const wordsOf = (lines: string[]) => lines.map((line) => line.split(' ').slice(0, 4).join(' '))
  expect(wordsOf(read.lines)).toEqual(wordsOf(original.lines))
  expect(json.lines.map((line) => JSON.parse(line).event)).toContain('message')
  expect(original.stdout).not.toBe('')
  expect(json.stdout).not.toContain('secret')
})

test('who had a conversation before is known where its trace is read, from the middle on too', async () => {
  const how = { folder: aFolder() }
  const run = (...args: string[]) => statecast(how, ...args, '--app', testApp)
  const { default: app } = await import(testApp)
  const node = await createRuntime({ ...app, transport: `embedded:${join(how.folder, '.statecast')}`, limits: { idleMs: 1 } })
  const session = node.session('main')
  // Once it has left memory, whoever had it claims it again.
  await vi.waitFor(async () => {
    await (await session.send('hello')).result()
    const events: string[] = []
    for await (const { event } of node.trace(session.address)) events.push(event)
    expect(events).toContainEqual(expect.stringMatching(/^claimed by/))
  })
  await node.close()
  const file = join(how.folder, 'a.trace')
  writeFileSync(file, (await run('export', 'main')).stdout)
  const original = await run('trace', 'main')

  const read = await run('trace', '--traces', file)
  const claim = original.lines.findIndex((line) => line.includes('claimed by'))
  const [from = ''] = original.lines[claim]?.split(' ') ?? []
  const rest = await run('trace', '--traces', file, '--from', from)

  expect(claim).toBeGreaterThan(0)
  expect(read.lines).toEqual(original.lines)
  expect(rest.lines).toEqual(original.lines.slice(claim))
})

test.each([
  ['nothing at all', ['trace'], /statecast trace KEY.*--traces FILE/],
  ['a conversation and traces', ['trace', 'main', '--traces', 'x'], /the key main and --traces contradict/],
  ['traces that grow', ['trace', '--traces', 'x', '--follow'], /--follow and --traces contradict/],
  ['traces with times of a node', ['trace', '--traces', 'x', '--timing'], /--timing and --traces contradict/],
  ['a file that is not there', ['trace', '--traces', 'nowhere.trace'], /nowhere\.trace cannot be read/],
])('%s is wrong usage of trace, and it says how it is meant', async (_, args, message) => {
  expect(await statecast({ folder: aFolder() }, ...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
})
