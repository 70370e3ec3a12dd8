/** An app file that cannot be loaded: whoever wrote it is told where to look. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder, statecast, testApp } from './run.ts'

const load = (file: string, text: string) => {
  const folder = aFolder()
  writeFileSync(join(folder, file), text)
  return statecast({ folder }, 'machines', '--app', file, '--json')
}
const errorIn = ({ stdout }: { stdout: string }) => (JSON.parse(stdout) as { error: object }).error

test.each([
  ['that throws', 'const one = 1\n\nthrow new Error("no key " + one)\n', 3, 'no key 1'],
  ['that wants what a module does not have', "import { exists } from 'node:fs'\nimport { nothing } from 'node:fs'\n", 2, 'nothing'],
])('of one %s the line is named', async (_, text, line, words) => {
  const ended = await load('app.mjs', text)

  expect(ended.code).toBe(2)
  const { message, hint, field } = errorIn(ended) as { message: string; hint: string; field: string }
  expect(message).toContain(words)
  expect({ message, hint, field }).toEqual({
    message: expect.stringMatching(new RegExp(`app\\.mjs:${line}\\)$`)),
    hint: expect.stringMatching(new RegExp(`^look at .*app\\.mjs:${line}$`)),
    field: 'app',
  })
})

test.each([
  ['app.mjs', 'throw "no error"\n', 'throw an Error'],
  ['app.mjs', 'export default {{ one }\n', '/app.mjs shows the line'],
  ['app.mts', 'const one: = 1\n', '/app.mts'],
  ['app.json', '{ "agents": }', 'as JSON'],
  ['app.mjs', "import './nowhere.mjs'\n", 'app.mjs imports'],
])('where nobody tells us the line of %s, the hint says who would: %j', async (file, text, words) => {
  const { hint } = errorIn(await load(file, text)) as { hint: string }

  expect(hint).toContain(words)
  expect(hint).not.toContain('that it names')
})

test('one that is not there is named with the option that it was given by', async () => {
  const how = { folder: aFolder() }
  const against = await statecast(how, 'replay', '--against', 'missing.ts', '--app', testApp, '--json')
  const alone = await statecast(how, 'machines', '--app', 'missing.ts', '--json')

  expect(errorIn(against)).toMatchObject({ field: 'against', hint: 'give the path of a file with --against' })
  expect(errorIn(alone)).toMatchObject({ field: 'app', hint: 'give the path of a file with --app' })
})
