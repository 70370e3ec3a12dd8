import { expect, test } from 'vitest'
import { exportsIn, kept, unusedExports, unusedExportsOfOurs } from './exports.ts'

test('what is exported is asked for by another file, or says why not (cure: take the word `export` away)', () => {
  const unused = unusedExportsOfOurs()

  expect(unused.filter((one) => !Object.hasOwn(kept, one))).toEqual([])
  expect(
    Object.keys(kept).filter((one) => !unused.includes(one)),
    'no longer needed in test/tidy/exports.ts',
  ).toEqual([])
})

test('declarations of every kind are found, comments and strings are none', () => {
  const text = `export const a = 1
export async function b() {}
export type C = { export: 'const d' }
export interface E {}
export abstract class F {}
export { g } from './g.ts'
// export const h = 1
const i = 1
`
  expect(exportsIn(text)).toEqual(['a', 'b', 'C', 'E', 'F'])
})

test('an export counts as used where a file that imports its file names it, lazily or for its type too', () => {
  const files: Record<string, string> = {
    'src/a.ts': 'export const used = 1\nexport const lazy = 1\nexport type Typed = 1\nexport const unused = used\n',
    'src/b.ts': "import { used } from './a.ts'\nconst { lazy } = await import('./a.ts')\ntype T = import('./a.ts').Typed\n",
    'src/c.ts': 'const unused = 1\n',
  }
  expect(unusedExports(['src/a.ts'], Object.keys(files), (file) => files[file] ?? '')).toEqual(['src/a.ts: unused'])
})
