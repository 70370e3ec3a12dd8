/** `statecast replay --against` over all that was recorded: which sessions an edited machine would have led elsewhere, and where first. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRuntime } from '../../src/index.ts'
import { natsForAll } from '../support/nats.ts'
import { repository } from '../tidy/sources.ts'
import refunds from './fixtures/refunds.ts'
import { aFolder, statecast } from './run.ts'

const server = natsForAll()

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

test('a thousand conversations with an agent are folded in less than a minute, and beside machines that did not change all are identical', async () => {
  const folder = aFolder()
  await using runtime = await createRuntime({ ...refunds, transport: `embedded:${join(folder, '.statecast')}` })
  const run = async (index: number) => (await runtime.session(`s-${index}`).send(`hello ${index}`)).result()
  for (let from = 0; from < 1000; from += 50) await Promise.all(Array.from({ length: 50 }, (_, index) => run(from + index)))
  await runtime.close()

  const began = performance.now()
  const { code, stdout } = await statecast({ folder }, 'replay', '--against', changed, '--app', app)
  const seconds = (performance.now() - began) / 1000
  console.info(`replay --against: 1,000 conversations in ${seconds.toFixed(1)} s`)

  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('1000 identical, 0 different') })
  expect(seconds).toBeLessThan(60)
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

test('an empty folder, machines that do not load or are not there, a report of no form, a misspelt kind and nothing to compare with are refused with the way out', async () => {
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
  for (const more of [[], ['--traces', changed]])
    expect(await replay('--against', changed, '--kind', 'refnud', ...more)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/refunds-changed\.ts has no machine 'refnud'/),
    })

  const other = join(repository, 'test/cli/fixtures/other.json')
  const { code, stdout } = await replay('--against', other, '--app', app)
  expect(code).toBe(1)
  expect(stdout).toMatch(/unreadable {2}refund\/r-0000 .*has no machine 'refund' \[bad_request\]/)
  expect(stdout).toContain('0 identical, 0 different, 50 unreadable')
})

test('statecast test folds a folder of traces by the machines of the app: a line for each, and exit code 1 where one leads elsewhere', async () => {
  const folder = aFolder()
  await recordRefunds(folder, 100)
  mkdirSync(join(folder, 'traces'))
  for (const id of ['r-0001', 'r-0050'])
    writeFileSync(join(folder, `traces/${id}.trace`), (await statecast({ folder }, 'export', `refund/${id}`, '--redact', '--app', app)).stdout)
  const run = (...args: string[]) => statecast({ folder }, 'test', '--traces', 'traces', ...args)

  expect(await run('--app', app)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^identical {3}traces\/r-0001\.trace {2}\d commits\nidentical {3}traces\/r-0050\.trace.*\n2 traces: 2 identical, 0 not/,
    ),
  })
  const failed = await run('--app', changed)
  expect(failed.code).toBe(1)
  expect(failed.stdout).toContain('different   traces/r-0050.trace  commit 2, /: in deciding, recorded refused, now paying')
  const lines = (await run('--app', changed, '--json')).lines.map((line) => JSON.parse(line) as object)
  expect(lines).toEqual([
    expect.objectContaining({ verdict: 'identical' }),
    expect.objectContaining({ verdict: 'different' }),
    expect.objectContaining({ traces: 2, failed: 1 }),
  ])
  expect(await statecast({ folder }, 'test')).toMatchObject({ code: 2, stderr: expect.stringContaining('statecast test --traces FOLDER') })
})

test('what nodes on NATS have recorded is folded, checked and exported redacted in the same way', async () => {
  const how = { folder: aFolder(), env: { STATECAST_URL: server.url } }
  await using node = await createRuntime({ ...refunds, transport: server.url })
  await node.actor('refund', 'gawan').send({ type: 'ask', amount: 500, customer: 'Gawan', why: 'the castle' })
  await node.actor('refund', 'gawan').send({ type: 'deny' })

  const replayed = await statecast(how, 'replay', '--against', changed, '--app', app)
  const checked = await statecast(how, 'check', '--kind', 'refund', '--app', app)
  const exported = await statecast(how, 'export', 'refund/gawan', '--redact', '--app', app)

  expect(replayed).toMatchObject({ code: 1, stdout: expect.stringContaining('refund/gawan  commit 2, /: in deciding, recorded refused, now paying') })
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringMatching(/refund +1 +4\/7 +2\/6/) })
  expect(exported).toMatchObject({ code: 0, stdout: expect.not.stringMatching(/gawan/i) })
})
