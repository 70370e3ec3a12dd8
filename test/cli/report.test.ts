/** The page that `statecast replay --report` writes. */
import { expect, test } from 'vitest'
import { reportPage } from '../../src/cli/report.ts'
import type { Compared } from '../../src/client/index.ts'

const hostile = '</bdi><script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp\u0007'

test('what sessions hold is text in a report, whatever it says, and nothing in it runs or is fetched', () => {
  const odd: Compared = {
    session: `session/${hostile}`,
    file: hostile,
    verdict: 'different',
    commits: 3,
    inputs: 4,
    signature: { recorded: 'a', present: 'b' },
    difference: { seq: 3, actor: `/${hostile}`, what: 'state', before: hostile, recorded: { [hostile]: hostile }, now: undefined, events: [hostile] },
  }
  const lost: Compared = { ...odd, verdict: 'unreadable', error: { code: 'corrupt_at', message: hostile, hint: hostile, retryable: false } }
  const summary = { against: hostile, sessions: 2, identical: 0, different: 1, unreadable: 1, commits: 3, seconds: 0.1 }

  const page = reportPage(summary, [odd, lost])

  expect(page).not.toMatch(/<script|<img|<link|\u202e/)
  expect(page).not.toContain('\u0007')
  expect(page).toContain('&lt;script&gt;')
  expect(page).toContain("default-src 'none'")
  expect(page).toContain('prefers-color-scheme: dark')
})

test('a report of many sessions stays one that opens: what is too much is counted', () => {
  const one: Compared = { session: 'session/a', verdict: 'identical', commits: 1, inputs: 1 }
  const summary = { against: 'app.ts', sessions: 6000, identical: 6000, different: 0, unreadable: 0, commits: 6000, seconds: 1 }
  const page = reportPage(
    summary,
    Array.from({ length: 6000 }, () => one),
  )
  expect(page).toContain('All sessions arrive at the same')
  expect(page).toContain('and 1000 more')
})
