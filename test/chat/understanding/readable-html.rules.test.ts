import { expect, test } from 'vitest'
import { readableHtml } from '../../../src/chat/understanding/readable-html.rules.ts'

test('of a page its title and its text are left, a line for each block', () => {
  const page = `<!doctype html><html><head><title>Tea &amp; cake</title><style>p { color: red }</style><script>if (1 < 2) alert('</p>')</script></head>
    <body><!-- <p>hidden</p> --><nav><a href="/">Home</a></nav><h1 class="a > b">Prices</h1><p>Tea is <b>2&nbsp;&euro;</b>,<br>cake&#x20;3 &#8364;.</p>
    <ul><li>one<li>two</ul>5 < 6</body></html>`

  expect(readableHtml(page)).toBe('Tea & cake\nPrices\nTea is 2 &euro;,\ncake 3 €.\none\ntwo\n5 < 6')
})

test('what is not closed ends nothing but itself, and takes no longer for being long', () => {
  expect(readableHtml('<p>a<nav>b<p title="x>c')).toBe('ab')
  expect(readableHtml('<p>a<script>b')).toBe('a')
  expect(readableHtml('<'.repeat(300_000)).length).toBe(300_000)
  expect(readableHtml('<a '.repeat(200_000))).toBe('')
  expect(readableHtml('<nav>'.repeat(300_000))).toBe('')
  expect(readableHtml('&#0;&#x110000;&#xd800;')).toBe('&#0;&#x110000;�')
})
