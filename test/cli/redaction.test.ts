/** `statecast export --redact`: a trace that others may see, and that CI folds. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from '../tidy/sources.ts'
import { aFolder, aNode, statecast, stopNode, tell, testApp } from './run.ts'

test('a conversation and an actor are exported redacted, fold to the same states, and cannot be imported', async () => {
  const how = { folder: aFolder() }
  const node = await aNode(how, '--app', testApp)
  await statecast(how, 'send', 'agent:main:web:direct:orgeluse', 'my name is Orgeluse de Logroys')
  await tell(node, 'tally', 'cundrie', { type: 'add', amount: 7, who: 'Cundrie' })

  const session = await statecast(how, 'export', 'agent:main:web:direct:orgeluse', '--redact', '--app', testApp)
  const actor = await statecast(how, 'export', 'tally/cundrie', '--redact', '--app', testApp)
  await stopNode(node)
  writeFileSync(join(how.folder, 'session.trace'), session.stdout)
  writeFileSync(join(how.folder, 'actor.trace'), actor.stdout)

  expect(session).toMatchObject({ code: 0, stderr: expect.stringMatching(/redacted: it leads to the same states\nkept as they are: times/) })
  const bytes = (text: string) =>
    text
      .split('\n')
      .flatMap((line) =>
        line.includes('"bytes"') ? [Buffer.from((JSON.parse(line) as { bytes: string }).bytes, 'base64').toString('latin1')] : [line],
      )
      .join('\n')
  expect(bytes(session.stdout)).not.toMatch(/orgeluse|logroys|my name/i)
  expect(bytes(actor.stdout)).not.toMatch(/cundrie/i)
  const replayed = await statecast(how, 'replay', '--traces', '.', '--app', testApp)
  expect(replayed).toMatchObject({ stdout: expect.stringContaining('2 identical, 0 different') })
  expect(await statecast(how, 'import', 'session.trace', '--app', testApp)).toMatchObject({ code: 2, stderr: expect.stringContaining('is redacted') })
})

test('machines that did not record it, and what is not there, are refused', async () => {
  const how = { folder: aFolder() }
  const node = await aNode(how, '--app', testApp)
  await tell(node, 'light', 'hall', { type: 'toggle' })
  await stopNode(node)
  const changed = join(repository, 'test/cli/fixtures/changed.ts')

  expect(await statecast(how, 'export', 'light/hall', '--redact', '--app', changed)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('with --app'),
  })
  expect(await statecast(how, 'export', 'light/nobody', '--redact', '--app', testApp)).toMatchObject({ code: 4, stdout: '' })
})
