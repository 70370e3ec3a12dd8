/** Secrets from files: the value in the file is the value of the variable. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fromFiles, variables } from '../../src/runtime/variables.ts'
import { textOf } from '../tidy/sources.ts'

const folder = mkdtempSync(join(tmpdir(), 'statecast-variables-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const aFile = (text: string): string => {
  const file = join(folder, `secret-${files++}`)
  writeFileSync(file, text)
  return file
}
let files = 0

test.each(fromFiles)('%s is read from the file that it names with _FILE, without the line end', (name) => {
  expect(variables({ [`${name}_FILE`]: aFile('a-value-of-its-own\n'), OTHER: 'stays' })).toMatchObject({
    [name]: 'a-value-of-its-own',
    OTHER: 'stays',
  })
})

test.each(fromFiles)('%s beside its file is refused, also where both say the same; an empty one does not count', (name) => {
  const file = aFile('value')
  const both = { code: 'bad_request', field: name, message: `${name} and ${name}_FILE contradict each other` }

  expect(() => variables({ [name]: 'value', [`${name}_FILE`]: file })).toThrow(expect.objectContaining(both))
  expect(variables({ [name]: ' ', [`${name}_FILE`]: file })[name]).toBe('value')
  expect(variables({ [name]: 'value', [`${name}_FILE`]: '' })[name]).toBe('value')
})

test('a device or a pipe, which may never end, or gives what it has only once, is refused without being read', () => {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])

  for (const file of ['/dev/zero', pipe])
    expect(() => variables({ STATECAST_TOKEN_FILE: file })).toThrow(
      expect.objectContaining({ code: 'bad_request', field: 'STATECAST_TOKEN_FILE', message: 'STATECAST_TOKEN_FILE names no regular file' }),
    )
})

test('a file that is missing, a folder, unreadable or far too long is refused by its name, and what it holds is never shown', () => {
  const unreadable = aFile('hidden')
  chmodSync(unreadable, 0)
  const long = aFile('hidden'.repeat(20_000))
  const refused = expect.objectContaining({
    code: 'bad_request',
    field: 'OPENAI_API_KEY_FILE',
    hint: expect.stringContaining('nothing but the value'),
  })

  for (const file of [join(folder, 'nowhere'), folder, long, ...(process.getuid?.() === 0 ? [] : [unreadable])])
    expect(() => variables({ OPENAI_API_KEY_FILE: file })).toThrow(refused)
  expect(() => variables({ OPENAI_API_KEY_FILE: long })).toThrow(expect.objectContaining({ message: expect.not.stringContaining('hidden') }))
})

test('the page of the variables names each of them', () => {
  for (const name of fromFiles) expect(textOf('docs/reference/environment.md')).toContain(`${name}_FILE`)
})
