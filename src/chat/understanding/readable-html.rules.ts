/** What a page says, without what it is made of. No parser of HTML: text for a model, where a tag that was not closed costs a line and no more. */

/** What of a page is not to be read, with all that is in it. */
const unread: ReadonlySet<string> = new Set(['script', 'style', 'title', 'noscript', 'template', 'svg', 'iframe', 'object', 'nav', 'footer'])
/** What does not stand in the middle of a line. */
const blocks: ReadonlySet<string> = new Set(
  'address article aside blockquote body br dd div dl dt fieldset figcaption figure h1 h2 h3 h4 h5 h6 header hr li main ol p pre section table td th tr ul'.split(
    ' ',
  ),
)
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  mdash: '—',
  ndash: '–',
}

const decoded = (text: string): string =>
  text.replace(/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,8});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? whole
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : whole
  })

/** From `<` on: the name of a tag and where it ends. @returns undefined for a `<` that begins none */
const tagAt = (html: string, at: number): { name: string; closes: boolean; end: number } | undefined => {
  const closes = html[at + 1] === '/'
  const from = at + (closes ? 2 : 1)
  let to = from
  while (/[a-z0-9]/i.test(html[to] ?? '')) to++
  if (to === from) return undefined
  let quote = ''
  let end = to
  for (; end < html.length && (quote !== '' || html[end] !== '>'); end++) {
    const character = html[end] as string
    if (quote === '' && (character === '"' || character === "'")) quote = character
    else if (character === quote) quote = ''
  }
  return { name: html.slice(from, to).toLowerCase(), closes, end: end + 1 }
}

/** Where an element that is not read ends. Code that is not closed takes the rest of the page with it, anything else is read after all. */
const behind = (lower: string, name: string, at: number, unclosed: Set<string>): number => {
  const close = unclosed.has(name) ? -1 : lower.indexOf(`</${name}`, at)
  // Looked for once: a page of nothing but beginnings would be read again for each.
  if (close === -1) unclosed.add(name)
  return close === -1 ? (name === 'script' || name === 'style' ? lower.length : at) : after(lower, '>', close)
}
const after = (html: string, mark: string, at: number): number => {
  const end = html.indexOf(mark, at)
  return end === -1 ? html.length : end + mark.length
}

/** One line for each block, without empty ones; the title of the page stands first. */
export const readableHtml = (html: string): string => {
  const lower = html.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  const opened = lower.indexOf('<title')
  const title = opened === -1 ? '' : html.slice(html.indexOf('>', opened) + 1, Math.max(0, lower.indexOf('</title', opened)))
  let text = `${title}\n`
  let at = 0
  const unclosed = new Set<string>()
  while (at < html.length) {
    const open = html.indexOf('<', at)
    text += html.slice(at, open === -1 ? html.length : open).replace(/\s+/g, ' ')
    if (open === -1) break
    if (html[open + 1] === '!' || html[open + 1] === '?') {
      at = html.startsWith('<!--', open) ? after(html, '-->', open) : after(html, '>', open)
      continue
    }
    const tag = tagAt(html, open)
    if (tag === undefined) {
      text += '<'
      at = open + 1
      continue
    }
    if (blocks.has(tag.name)) text += '\n'
    at = !tag.closes && unread.has(tag.name) ? behind(lower, tag.name, tag.end, unclosed) : tag.end
  }
  return decoded(text)
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n')
}
