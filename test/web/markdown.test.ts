/** Markdown on the chat page: a tree of plain data in which nothing acts, and blocks that grow. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asIfClosed, type Blocks, blocksOf, noBlocks } from '../../web/chat/src/markdown/blocks.ts'
import { piecesOf } from '../../web/chat/src/markdown/highlight.ts'
import { type BlockNode, type Inline, safeAddress, treeOf } from '../../web/chat/src/markdown/tree.ts'
import { casesOf } from '../support/property.ts'

const inlinesOf = (markdown: string): Inline[] => {
  const [block] = treeOf(markdown)
  if (block?.type !== 'paragraph') throw new TypeError(`${markdown} is no paragraph`)
  return block.children
}
const linksIn = (nodes: unknown): string[] =>
  typeof nodes === 'object' && nodes !== null
    ? Object.entries(nodes).flatMap(([name, value]) => (name === 'href' ? [String(value)] : linksIn(value)))
    : []

test.each([`${'- '.repeat(500)}x`, '>'.repeat(1000), `${'> '.repeat(60)}deep`, '['.repeat(3000), '*a '.repeat(2000), '>'.repeat(100_000)])(
  'marks within marks without end are shown as they were written, and break nothing',
  (markdown) => {
    const deep = (nodes: unknown): number =>
      typeof nodes === 'object' && nodes !== null ? 1 + Math.max(0, ...Object.values(nodes).map((value) => deep(value))) : 0
    expect(deep(treeOf(markdown))).toBeLessThan(200)
    const { closed, open } = blocksOf(markdown, noBlocks)
    expect([...closed, ...open].join('')).toBe(markdown)
  },
)

test.each([
  '<script>alert(1)</script>',
  'so <img src=x onerror=alert(1)> it goes',
  '<a href="javascript:alert(1)" onclick="alert(2)">press</a>',
  '<svg><animate onbegin=alert(1)></svg>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<!-- <b> --> <style>*{display:none}</style>',
])('[CH-86] %s is shown as it was written', (markdown) => {
  const tree = treeOf(markdown)
  const texts = JSON.stringify(tree).match(/"text":"(?:\\.|[^"\\])*"/g) ?? []
  expect(texts.map((text) => JSON.parse(`{${text}}`).text).join('')).toBe(markdown)
  expect(linksIn(tree)).toEqual([])
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  'javascript&colon;alert(1)',
  '&#106;avascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://example.org/1',
  '/relative',
  '//example.org',
  '#there',
])('%j is no address', (address) => {
  expect(safeAddress(address)).toBeUndefined()
  expect(linksIn(treeOf(`[press](${address})`))).toEqual([])
  expect(linksIn(treeOf(`[press](<${address}>)`))).toEqual([])
  expect(linksIn(treeOf(`<${address}>`))).toEqual([])
  expect(linksIn(treeOf(`[press][it]\n\n[it]: ${address}`))).toEqual([])
})

test('no text at all makes a link that does anything but show something', () => {
  const pieces = fc.constantFrom(
    '[',
    ']',
    '(',
    ')',
    '<',
    '>',
    '!',
    '`',
    'javascript:',
    'https://a.b',
    'data:',
    '&#58;',
    '"',
    '\n',
    ' ',
    '|',
    'x',
    '\\',
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 25 }), (parts) => {
      for (const link of linksIn(treeOf(parts.join('')))) expect(link).toMatch(/^(?:https?|mailto):/)
    }),
    casesOf(import.meta.url),
  )
})

test('addresses of the web and of mail boxes are links; pictures are links too, since nothing loads by itself', () => {
  expect(inlinesOf('[the guide](https://example.org/a?b=1)')).toEqual([
    { type: 'link', href: 'https://example.org/a?b=1', children: [{ type: 'text', text: 'the guide' }] },
  ])
  expect(linksIn(treeOf('me@example.org and www.example.org'))).toEqual(['mailto:me@example.org', 'http://www.example.org/'])
  expect(inlinesOf('![a cat](https://example.org/cat.png)')).toEqual([
    { type: 'link', href: 'https://example.org/cat.png', children: [{ type: 'text', text: 'a cat' }] },
  ])
})

test('headings begin below those of the page, and references to characters are characters', () => {
  expect(treeOf('# One\n\n##### Five')).toMatchObject([{ level: 3 }, { level: 6 }])
  expect(inlinesOf('a &lt; b &amp;&amp; c &#8594; d &unknown;')).toEqual([{ type: 'text', text: 'a < b && c → d &unknown;' }])
  expect(inlinesOf('`a &lt; b`')).toEqual([{ type: 'code', text: 'a &lt; b' }])
})

test('tables keep how their columns stand, tasks whether they are done', () => {
  expect(treeOf('| a | b |\n|---|--:|\n| 1 | 2 |')).toMatchObject([{ type: 'table', head: [{ align: null }, { align: 'right' }], rows: [[{}, {}]] }])
  const [list] = treeOf('- [x] **said**\n- [ ] done')
  expect(list).toMatchObject({
    type: 'list',
    start: null,
    items: [
      [{ type: 'paragraph', children: [{ type: 'task', done: true }, { type: 'strong' }] }],
      [{ children: [{ type: 'task', done: false }, {}] }],
    ],
  })
})

test.each([
  ['costs $5 and $6 today', undefined],
  ['$5', undefined],
  ['over $n$ attempts', 'n'],
  ['\\(a + b\\)', 'a + b'],
  ['`$n$`', undefined],
  ['a \\$n\\$ b', undefined],
])('%s: the formula is %s', (markdown, source) => {
  const maths = inlinesOf(markdown).find((node) => node.type === 'maths')
  expect(maths?.source).toBe(source)
})

test('[CH-86] a formula of its own stands by itself', () => {
  expect(treeOf('so\n\n$$\na = b\n$$\n\nand')).toMatchObject([{}, { type: 'maths', source: 'a = b' }, {}])
  expect(treeOf('\\[ a = b \\]')).toMatchObject([{ type: 'maths', source: 'a = b' }])
})

test('[CH-86] code is known to be whole when its fence is closed', () => {
  const code = (markdown: string) => treeOf(markdown)[0] as Extract<BlockNode, { type: 'code' }>
  expect(code('```ts\nconst a = 1')).toMatchObject({ language: 'ts', text: 'const a = 1', closed: false })
  expect(code('```ts\nconst a = 1\n```')).toMatchObject({ closed: true })
  expect(code('````md\n```\n')).toMatchObject({ closed: false })
  expect(code('    indented')).toMatchObject({ closed: true })
})

test('colours change no letter of the code, and a language that is not known has none', () => {
  const text = 'const a = "</pre><script>alert(1)</script>" // so\n'
  const pieces = piecesOf(text, 'ts')
  expect(pieces?.map((piece) => piece.text).join('')).toBe(text)
  expect(pieces?.map((piece) => piece.kind)).toEqual(expect.arrayContaining(['key', 'str', 'com']))
  expect(piecesOf(text, 'no-such-language')).toBeUndefined()
})

const answer = `Three things, *one* of them **new**:

- the first
- the second, with \`code\`

  and more of it

| a | b |
|---|---|
| 1 | 2 |

\`\`\`ts
const a = 1

const b = 2
\`\`\`

> quoted
> twice

1. one
2. two

That is [all](https://example.org).`

test('blocks that have been finished stay the same texts, however the answer comes in', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 60, maxLength: 60 }), (steps) => {
      let blocks: Blocks = noBlocks
      let at = 0
      for (const step of steps) {
        at += step
        const next = blocksOf(answer.slice(0, at), blocks)
        expect(next.closed.slice(0, blocks.closed.length)).toEqual(blocks.closed)
        expect([...next.closed, ...next.open].join('')).toBe(answer.slice(0, at))
        blocks = next
      }
      const end = blocksOf(answer, blocks)
      const parts = [...end.closed, ...end.open]
      expect(parts.flatMap((part) => treeOf(part))).toEqual(treeOf(answer))
    }),
    casesOf(import.meta.url),
  )
})

test('another text begins anew', () => {
  const before = blocksOf('one\n\ntwo\n\nthree\n', noBlocks)
  expect(before.closed).toHaveLength(2)
  expect(blocksOf('other', before)).toEqual({ closed: [], open: ['other'] })
})

test.each([
  ['this is **bold', 'this is **bold**'],
  ['this is **bold and *both', 'this is **bold and *both***'],
  ['this is **', 'this is '],
  ['`nextR', '`nextR`'],
  ['`', ''],
  ['a [link', 'a link'],
  ['a [link](https://exa', 'a link'],
  ['a [**link', 'a **link**'],
  ['snake_case_name', 'snake_case_name'],
  ['2 * 3', '2 * 3'],
  ['sum \\(a + ', 'sum '],
  ['~~gone', '~~gone~~'],
  ['- one\n- **two', '- one\n- **two**'],
  ['```ts\nconst a = "**', '```ts\nconst a = "**'],
  ['**bold** and', '**bold** and'],
  ['`a[` and', '`a[` and'],
])('%j is drawn as %j while it is open', (open, drawn) => {
  expect(asIfClosed(open)).toBe(drawn)
})

test('the head of a table is one before the line below it has come', () => {
  for (const open of ['| a | b', '| a | b |\n', '| a | b |\n|--'])
    expect(treeOf(asIfClosed(open)), open).toMatchObject([{ type: 'table', head: [{}, {}], rows: [] }])
})
