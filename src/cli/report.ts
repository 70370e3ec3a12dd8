/** What `statecast replay --against` has found, as one page that needs no script and no other file. What it shows is text, whatever it says. */
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { Compared } from '../client/index.ts'
import { differenceText } from './compared-text.ts'
import { printable } from './output.ts'
import { reportStyle } from './report.style.ts'

/** `seconds` is how long it took. */
export type Summary = {
  /** The app module whose machines folded them. */
  against: string
  sessions: number
  identical: number
  different: number
  unreadable: number
  commits: number
  seconds: number
}

type Page = HtmlEscapedString
/** A promise only where a value is one. */
const markup = html as (strings: TemplateStringsArray, ...values: unknown[]) => Page

/** Rows that a page shows in full: one of 100,000 sessions would open nowhere. */
const rowsMax = 5000

/** @returns HTML */
export const reportPage = (summary: Summary, sessions: readonly Compared[]): string => pageOf(summary, sessions).toString()

const pageOf = (summary: Summary, sessions: readonly Compared[]): Page => {
  const odd = sessions.filter(({ verdict }) => verdict !== 'identical')
  const same = sessions.filter(({ verdict }) => verdict === 'identical')
  const { against, identical, different, unreadable, commits, seconds } = summary
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${verdictText(summary)} · Statecast replay</title>
<style>${raw(reportStyle)}</style>
</head>
<body>
<main>
<h1>${verdictText(summary)}</h1>
<p class="meta">${summary.sessions} recorded sessions, ${commits} commits, folded by the machines of ${text(against)} in ${seconds} s</p>
<ul class="counts">
<li><b>${different}</b> <span class="fail">▲ different</span></li>
<li><b>${unreadable}</b> <span class="wait">■ unreadable</span></li>
<li><b>${identical}</b> <span class="fine">● identical</span></li>
</ul>
${odd.length === 0 ? '' : markup`<h2>First differences</h2>${odd.slice(0, rowsMax).map(oddCard)}${more(odd.length)}`}
${same.length === 0 ? '' : markup`<h2>Identical</h2><ul class="same">${same.slice(0, rowsMax).map(sameRow)}</ul>${more(same.length)}`}
</main>
</body>
</html>
`
}

const verdictText = ({ sessions, identical, different, unreadable }: Summary): string => {
  if (sessions === 0) return 'Nothing is recorded'
  if (different > 0) return `${different} of ${sessions} sessions would go another way`
  return identical === sessions ? 'All sessions arrive at the same' : `${unreadable} of ${sessions} sessions cannot be read`
}

const text = (value: string): Page => markup`<bdi>${printable(value)}</bdi>`
const code = (value: unknown): Page => markup`<pre>${printable(JSON.stringify(value, null, 2) ?? 'nothing', 'lines')}</pre>`
const more = (count: number): Page | '' =>
  count > rowsMax ? markup`<p class="meta">and ${count - rowsMax} more: the report in JSON has all of them</p>` : ''

const oddCard = ({ session, file, verdict, difference, error, commits, signature }: Compared): Page => markup`<section class="card ${verdict}">
<h3>${text(session)}${file === undefined || file === session ? '' : markup` <small>${text(file)}</small>`}</h3>
${error ? markup`<p><span class="wait">■ ${error.code}</span> ${text(error.message)}</p><p class="meta">${text(error.hint ?? '')}</p>` : ''}
${
  difference
    ? markup`<p><span class="fail">▲</span> ${text(differenceText(difference))}</p>
<dl>
<dt>came in</dt><dd>${difference.events.length > 0 ? text(difference.events.join(', ')) : 'nothing'}</dd>
${difference.before === undefined ? '' : markup`<dt>before</dt><dd>${code(difference.before)}</dd>`}
<dt>recorded</dt><dd>${code(difference.recorded)}</dd>
<dt>now</dt><dd>${code(difference.now)}</dd>
<dt>folded</dt><dd>${commits} commits${signature ? `; machine ${signature.recorded}, now ${signature.present}` : ''}</dd>
</dl>`
    : ''
}
</section>`

const sameRow = ({ session, file, commits }: Compared): Page =>
  markup`<li><span class="fine">●</span> ${text(file ?? session)} <small>${commits} commits</small></li>`
