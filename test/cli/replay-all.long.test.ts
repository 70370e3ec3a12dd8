/** `statecast replay --against` over all that was recorded: which sessions an edited machine would have led elsewhere, and where first. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRuntime } from '../../src/index.ts'
import { repository } from '../tidy/sources.ts'
import refunds from './fixtures/refunds.ts'
import { aFolder, statecast } from './run.ts'

const app = join(repository, 'test/cli/fixtures/refunds.ts')
const changed = join(repository, 'test/cli/fixtures/refunds-changed.ts')
const hostile = '<script>alert(1)</script>\u202e'

/** One of ten asks for much, and every hundredth of all is refused. */
const recordRefunds = async (folder: string, count: number): Promise<void> => {
  await using runtime = await createRuntime({ ...refunds, transport: `embedded:${join(folder, '.statecast')}` })
  const run = async (index: number): Promise<void> => {
    const refund = runtime.actor('refund', `r-${String(index).padStart(4, '0')}`)
    await refund.send({ type: 'ask', amount: index % 10 === 0 ? 500 : 20, customer: `customer ${index}`, why: hostile })
    if (index % 10 === 0) await refund.send({ type: index % 100 === 50 ? 'deny' : 'approve' })
  }
  for (let from = 0; from < count; from += 50) await Promise.all(Array.from({ length: 50 }, (_, index) => run(from + index)))
  await runtime.settled(60_000)
}

test('of a thousand recorded runs, it names the first session, seq and state that one changed transition leads elsewhere', async () => {
  const folder = aFolder()
  await recordRefunds(folder, 1000)

  const began = performance.now()
  const { code, stdout, stderr } = await statecast(
    { folder },
    'replay',
    '--against',
    changed,
    '--app',
    app,
    '--report',
    'out.json',
    '--report',
    'out.html',
  )
  const seconds = (performance.now() - began) / 1000
  console.info(`replay --against: 1,000 runs in ${seconds.toFixed(1)} s`)

  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('the report is in out.html') })
  const lines = stdout.trimEnd().split('\n')
  expect(lines[0]).toMatch(/^different {3}refund\/r-0050 {2}commit 2, \/: in deciding, recorded refused, now paying$/)
  expect(lines[1]).toBe('            on / deny')
  expect(lines.filter((line) => line.startsWith('different'))).toHaveLength(10)
  expect(lines.at(-1)).toMatch(/^1000 recorded sessions against .*: 990 identical, 10 different \(\d+ commits in [\d.]+ s\)$/)
  expect(seconds).toBeLessThan(60)

  const report = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8')) as { summary: object; sessions: object[] }
  expect(report.summary).toMatchObject({ sessions: 1000, identical: 990, different: 10, unreadable: 0 })
  expect(report.sessions.find((one) => 'difference' in one)).toMatchObject({
    session: 'refund/r-0050',
    verdict: 'different',
    difference: { seq: 2, actor: '/', what: 'state', before: 'deciding', recorded: 'refused', now: 'paying', events: ['/ deny'] },
  })
  const page = readFileSync(join(folder, 'out.html'), 'utf8')
  expect(page).toContain('10 of 1000 sessions would go another way')
  expect(page).not.toMatch(/<script|src=|https?:\/\//)
})

test('exported traces of a folder are folded like sessions; what is none is told, and the others go on', async () => {
  const folder = aFolder()
  await recordRefunds(folder, 100)
  mkdirSync(join(folder, 'traces/large'), { recursive: true })
  const exported = async (id: string) => (await statecast({ folder }, 'export', `refund/${id}`, '--app', app)).stdout
  const trace = await exported('r-0050')
  writeFileSync(join(folder, 'traces/large/denied.trace'), trace)
  writeFileSync(join(folder, 'traces/small.trace'), await exported('r-0001'))
  writeFileSync(join(folder, 'traces/none.trace'), 'hello\n')
  writeFileSync(join(folder, 'traces/cut.trace'), trace.split('\n').slice(0, -2).join('\n'))
  const bytes = (line: string) => JSON.stringify({ ...(JSON.parse(line) as object), bytes: 'AAAA' })
  writeFileSync(
    join(folder, 'traces/damaged.trace'),
    trace
      .split('\n')
      .map((line, index) => (index === 1 ? bytes(line) : line))
      .join('\n'),
  )
  const replay = (...args: string[]) => statecast({ folder }, 'replay', '--traces', ...args)

  const { code, stdout } = await replay('traces', '--against', changed)

  expect(code).toBe(1)
  expect(stdout).toContain('different   traces/large/denied.trace  commit 2, /: in deciding, recorded refused, now paying')
  expect(stdout).toMatch(/unreadable {2}traces\/none\.trace .*its first line does not say what it is \[bad_request\]/)
  expect(stdout).toMatch(/unreadable {2}traces\/cut\.trace .*its last line is missing/)
  expect(stdout).toMatch(/unreadable {2}traces\/damaged\.trace .*or some differ/)
  expect(stdout).toMatch(/5 recorded sessions against .*: 1 identical, 1 different, 3 unreadable/)
  expect(await replay('traces/small.trace', '--app', app)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 identical, 0 different') })
})

test('an empty folder, machines that do not load or are not there, a report of no form and nothing to compare with are refused with the way out', async () => {
  const folder = aFolder()
  await recordRefunds(folder, 50)
  mkdirSync(join(folder, 'empty'))
  const replay = (...args: string[]) => statecast({ folder }, 'replay', ...args)

  expect(await replay('--traces', 'empty', '--app', app)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no trace in empty.*\nhint: write some/),
  })
  expect(await replay('--traces', 'nowhere', '--app', app)).toMatchObject({ code: 2, stderr: expect.stringContaining('nowhere cannot be read') })
  expect(await replay('--against', 'nowhere.ts', '--app', app)).toMatchObject({ code: 2, stderr: expect.stringContaining('does not exist') })
  expect(await replay('--against', changed, '--report', 'out.pdf')).toMatchObject({ code: 2, stderr: expect.stringContaining('.json or .html') })
  expect(await replay()).toMatchObject({ code: 2, stderr: expect.stringContaining('replay --against FILE') })

  const other = join(repository, 'test/cli/fixtures/other.json')
  const { code, stdout } = await replay('--against', other, '--app', app)
  expect(code).toBe(1)
  expect(stdout).toMatch(/unreadable {2}refund\/r-0000 .*has no machine 'refund' \[bad_request\]/)
  expect(stdout).toContain('0 identical, 0 different, 50 unreadable')
})
