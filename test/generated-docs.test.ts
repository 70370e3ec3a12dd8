import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createMachine } from 'xstate'
import { chartPage, docsCommand, generatedPages, stalePages, writePages } from '../scripts/generate-docs.ts'

const folder = await mkdtemp(join(tmpdir(), 'statecast-docs-'))
afterAll(() => rm(folder, { recursive: true }))

test('the generated pages in docs/ are those of the present sources (cure: npm run docs)', async () => {
  expect(await stalePages()).toEqual([])
})

test('writing brings an empty folder up to date, and takes away what nothing makes any more', async () => {
  const pages = [...(await generatedPages()).keys()].sort()
  expect(await stalePages(folder)).toEqual(pages)

  expect(await writePages(folder)).toEqual(pages)
  expect(await stalePages(folder)).toEqual([])

  await mkdir(join(folder, 'docs/statecharts'), { recursive: true })
  await writeFile(join(folder, 'docs/statecharts/gone.md'), 'old')
  expect(await writePages(folder)).toEqual(['docs/statecharts/gone.md'])
  expect(await readdir(join(folder, 'docs/statecharts'))).not.toContain('gone.md')
})

test('--check writes nothing, and its exit code agrees with its words', async () => {
  expect(await docsCommand(['--check'])).toEqual({ lines: [], code: 0 })

  const empty = join(folder, 'empty')
  const { lines, code } = await docsCommand(['--check'], empty)
  expect(code).toBe(1)
  expect(lines).toContain('docs/reference/errors.md is not up to date')
  expect(lines.at(-1)).toBe('cure: npm run docs')
  await expect(readdir(empty)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('the page of a machine shows the drawing and one row for each transition', () => {
  const page = chartPage(
    'door',
    createMachine({
      id: 'door',
      description: 'opens and closes',
      initial: 'shut',
      on: { 'a|b': { actions: 'note' } },
      states: { shut: { entry: 'ring', on: { open: { target: 'ajar', guard: 'unlocked', description: 'with a key' } } }, ajar: { type: 'final' } },
    }),
  )

  expect(page).toContain('opens and closes\n')
  expect(page).toContain('](door.svg)\n')
  expect(page).toContain('| (any) | a\\|b |  |  | note |\n')
  expect(page).toContain('| shut | *entry* |  |  | ring |\n| shut | open | unlocked | ajar | with a key |\n| ajar |  |  | *end* |  |\n')
})
