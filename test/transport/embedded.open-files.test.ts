/** What is looked at before and after each commit, and what once a second. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { openFiles } from '../../src/transport/embedded/open-files.ts'
import { folders } from './folder.ts'

const aFolder = folders()
const opened = () => {
  const folder = aFolder()
  mkdirSync(folder)
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  for (const file of [first, second]) writeFileSync(file, '')
  let now = 1_000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  return { first, second, files: openFiles([first, second]), pass: (ms: number) => void (now += ms) }
}
const replace = (file: string): void => {
  renameSync(file, `${file}.away`)
  writeFileSync(file, '')
}
const replaced = expect.objectContaining({ code: 'log_unavailable', message: expect.stringContaining('was replaced') })

test('the first file is known at each look', () => {
  const { first, files } = opened()
  files.require()

  replace(first)

  expect(() => files.require()).toThrow(replaced)
})

test('a side file that is gone is noticed at once, one that was replaced after a second, and neither is forgotten', () => {
  const { second, files, pass } = opened()
  replace(second)

  pass(999)
  files.require()
  pass(1)

  expect(() => files.require()).toThrow(replaced)
  expect(files.known()).toEqual(replaced)
  renameSync(`${second}.away`, second)
  expect(() => files.require()).toThrow(replaced)

  const other = opened()
  renameSync(other.second, `${other.second}.away`)
  expect(() => other.files.require()).toThrow(expect.objectContaining({ message: expect.stringContaining('is gone') }))
})
