import { expect, test } from 'vitest'
import { patternsIn, slowness } from './patterns.ts'
import { filesUnder, textOf } from './sources.ts'

test.each<[string, string]>([
  ['\\s+$', ''],
  ['^\\s*at .+:\\d+', 'm'],
  ['\\d\\s*\\)*\\s*[+]', ''],
  ['^(a+)+$', ''],
  ['^([ \\t]*)(`{3,}|~{3,})(.*)$', ''],
  ['[.+\\-\\s]+$', ''],
  ['word.*other', ''],
  ['<.*?>', ''],
  ['^a[^]*b', 'm'],
  ['(?:x|yz)+.*q', ''],
  ['\\[([^\\]]*)\\]', ''],
  ['\\?.*$', ''],
  ['(?<!x)word\\w*other', ''],
])('/%s/%s is known to be slow', (source, flags) => {
  expect(slowness({ source, flags })).toEqual(expect.any(String))
})

test.each<[string, string]>([
  ['(?<!\\/)\\/+$', ''],
  ['^\\s*at', ''],
  ['\\s+', 'g'],
  ['image.{0,80}(?:too large|exceeds)', 'is'],
  ['"[^"]*"', ''],
  ['^word.*other', ''],
  ['^a.*b', 'm'],
  ['word.*other', 'y'],
  ['(?<!\\w)word\\w*other', ''],
  ['word.*', ''],
])('/%s/%s is known to be quick', (source, flags) => {
  expect(slowness({ source, flags })).toBeUndefined()
})

test('patterns are found where they stand, and nowhere else', () => {
  const { literals, made } = patternsIn("const a = /x/g.test([/y/].join()) // /no/\nconst b = '/no/', c = 6 / 2 / 1\nnew RegExp('z')\nRegExp(b)\n")

  expect(literals.map(({ source, line }) => [source, line])).toEqual([
    ['x', 1],
    ['y', 1],
  ])
  expect(made).toEqual([3, 4])
})

test('no text can make a pattern slow: each is a literal, and linear', () => {
  const problems = filesUnder('src')
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const { literals, made } = patternsIn(textOf(file))
      return [
        ...literals.flatMap((found) => {
          const why = slowness(found)
          return why === undefined ? [] : [`${file}:${found.line}: /${found.source}/${found.flags} ${why}`]
        }),
        ...made.map(
          (line) => `${file}:${line}: write the pattern as a literal, or use wildcard() of src/contracts/wildcard.ts: this one cannot be judged`,
        ),
      ]
    })

  expect(problems).toEqual([])
})
