/** Which files of a folder are traces. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { recordedIn } from '../../src/client/index.ts'

const aFolder = (...files: string[]): string => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-traces-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const file of files) {
    mkdirSync(join(folder, file, '..'), { recursive: true })
    writeFileSync(join(folder, file), '')
  }
  return folder
}

const namesIn = (folder: string): string[] => recordedIn(folder).map(({ name }) => relative(folder, name))

test('all files of a folder and of those in it, in the order of their names, but for notes and hidden ones', () => {
  const folder = aFolder('b.trace', 'a/z.trace', 'a/b/c.trace', 'README.md', '.hidden')

  expect(namesIn(folder)).toEqual(['a/b/c.trace', 'a/z.trace', 'b.trace'])
})

test('links of a folder that lead back to it count no trace twice, and do not go on for ever', () => {
  const folder = aFolder('one.trace', 'real/two.trace')
  for (const link of ['a', 'b', 'real/up']) symlinkSync(folder, join(folder, link))
  symlinkSync('real', join(folder, 'another name'))

  expect(namesIn(folder)).toEqual(['one.trace', 'real/two.trace'])
})

test('traces that stand elsewhere are found by links to them or to their folder; a link that leads nowhere cannot be read', () => {
  const elsewhere = aFolder('one.trace', 'more/two.trace')
  const folder = aFolder('own.trace')
  symlinkSync(join(elsewhere, 'one.trace'), join(folder, 'linked.trace'))
  symlinkSync(join(elsewhere, 'more'), join(folder, 'more'))
  symlinkSync('nowhere', join(folder, 'broken.trace'))
  symlinkSync('itself.trace', join(folder, 'itself.trace'))

  expect(namesIn(folder)).toEqual(['broken.trace', 'itself.trace', 'linked.trace', 'more/two.trace', 'own.trace'])
  expect(recordedIn(folder)[0]?.open).toThrow('broken.trace cannot be read')
})
