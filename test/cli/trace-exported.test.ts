/** `statecast trace --traces`: what stands in a file, before it is given away. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
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

test.each([
  ['nothing at all', ['trace'], /statecast trace KEY.*--traces FILE/],
  ['a conversation and traces', ['trace', 'main', '--traces', 'x'], /the key main and --traces contradict/],
  ['traces that grow', ['trace', '--traces', 'x', '--follow'], /--follow and --traces contradict/],
  ['traces with times of a node', ['trace', '--traces', 'x', '--timing'], /--timing and --traces contradict/],
  ['a file that is not there', ['trace', '--traces', 'nowhere.trace'], /nowhere\.trace cannot be read/],
])('%s is wrong usage of trace, and it says how it is meant', async (_, args, message) => {
  expect(await statecast({ folder: aFolder() }, ...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
})
