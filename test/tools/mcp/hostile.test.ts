/** Programs that harm nobody, whatever they do: each beside a good server, whose tools go on working. */
import { afterEach, expect, test } from 'vitest'
import { aBench, desk, hostile } from './fixtures.ts'

const before = Object.keys(Object.prototype).length
afterEach(() => expect(Object.keys(Object.prototype)).toHaveLength(before))

const beside = (deed: string, settings: object = {}) => aBench({ bad: { ...hostile(deed), ...settings }, desk: desk('new') })
const alone = (deed: string, settings: object = {}) => aBench({ bad: { ...hostile(deed), ...settings } })
const works = async ({ call }: ReturnType<typeof beside>) => expect(await call('desk__add', { a: 1, b: 2 })).toEqual({ sum: 3 })

test('names are cleaned to what providers take, and each stays one tool of its own', async () => {
  const bench = beside('names')
  await bench.tools.discover?.()

  const names = bench.tools.names.filter((name) => name.startsWith('bad__'))

  expect(names).toEqual(['bad___', 'bad__a_31mb_', 'bad__a_b', 'bad__a_b_2', `bad__${'n'.repeat(59)}`])
  expect(bench.tools.get('bad__a_31mb_')?.description).toBe('tells [2Ja terminal')
  expect(await bench.call('bad__a_b_2')).toBe('done tools/call')
  await works(bench)
})

test('of ten thousand tools five hundred are shown, and the log says so', async () => {
  const bench = beside('many')
  await bench.tools.discover?.()

  expect(bench.servers.report()[0]).toMatchObject({ state: 'ready', tools: 500 })
  expect(bench.lines).toContainEqual(expect.objectContaining({ level: 'warn', message: expect.stringContaining('more tools') }))
  await works(bench)
})

test('pages without an end come to one', async () => {
  const bench = alone('pages')
  await bench.tools.discover?.()

  expect(bench.servers.report()[0]).toMatchObject({ state: 'ready', tools: 100 })
})

test('a description of a megabyte is cut; one of ten is too much for the list of tools', async () => {
  const wordy = beside('wordy')
  await wordy.tools.discover?.()
  const talkative = beside('talkative')
  await talkative.tools.discover?.()

  expect(talkative.tools.get('bad__talkative')?.description).toHaveLength(4096 + ' … (cut)'.length)
  expect(wordy.servers.report()[0]).toMatchObject({ state: 'failed', error: { code: 'too_large', hint: expect.any(String) } })
  await works(wordy)
})

test('schemas that are bombs are left out, and those that are bombs only when they are checked are left to the server', async () => {
  const bench = beside('bombs')
  await bench.tools.discover?.()
  const refused = bench.lines.filter(({ message }) => message?.includes('cannot be used')).map(({ fields }) => (fields as { tool: string }).tool)

  const started = performance.now()
  expect(await bench.call('bad__text', { a: `${'a'.repeat(40)}!` })).toBe('done tools/call')
  expect(await bench.call('bad__doubling', { a: 'x' })).toBe('done tools/call')
  expect(await bench.call('bad__circle', { a: 'x' })).toBe('done tools/call')

  expect(performance.now() - started).toBeLessThan(5000)
  expect(refused.sort()).toEqual(['deep', 'polluting', 'wide'])
  await works(bench)
})

test('what is printed beside the protocol is passed over', async () => {
  const bench = alone('garbage')

  expect(await bench.call('bad__do')).toBe('done tools/call')
  expect(bench.lines.filter(({ fields }) => (fields as { where?: string }).where === 'stdout').length).toBeGreaterThan(3)
})

test('a line of a gigabyte is thrown away while it comes, and costs the call and the server', async () => {
  const bench = beside('endless')
  await bench.tools.discover?.()
  const { rss } = process.memoryUsage()

  await expect(bench.call('bad__do')).rejects.toMatchObject({ code: 'tool_lost' })

  expect(process.memoryUsage().rss - rss).toBeLessThan(300 * 1024 * 1024)
  expect(bench.servers.report()[0]).toMatchObject({
    state: 'backing-off',
    error: { code: 'too_large', message: expect.stringContaining('without an end') },
  })
  await works(bench)
})

test('a server that never answers is given up after its time, and no turn waits for it again', async () => {
  const connectMs = 2_000
  const bench = beside('silent', { connectMs })
  await bench.tools.discover?.()

  const [report] = bench.servers.report()
  expect(report).toMatchObject({ error: { code: 'timeout', hint: expect.any(String) } })
  // On a busy machine its pause may be over by now.
  expect(['backing-off', 'connecting']).toContain(report?.state)
  const started = performance.now()
  await bench.tools.discover?.()
  expect(performance.now() - started).toBeLessThan(connectMs)
  await works(bench)
})

test('a call that is never answered ends with its time', async () => {
  const bench = beside('hangs', { timeoutMs: 200 })

  await expect(bench.call('bad__do')).rejects.toMatchObject({ code: 'tool_timeout', data: { timeoutMs: 200 } })
  await works(bench)
})

test('one that dies at its start is tried a few times; what it said is shown, without its keys', async () => {
  const bench = alone('dies')
  await bench.tools.discover?.()

  expect(bench.servers.report()[0]).toMatchObject({
    // The pause may be over by now.
    state: expect.stringMatching(/^(?:backing-off|connecting)$/),
    error: { message: expect.stringMatching(/code 7; it said: api_key=\[redacted\]/) },
  })
})

test('one that ends at a question of the new era is asked as the old one was', async () => {
  const bench = alone('strict')

  expect(await bench.call('bad__do')).toBe('done tools/call')
  expect(bench.servers.report()[0]).toMatchObject({ state: 'ready', protocol: '2025-06-18' })
})

test.each([['shapeless', 'log_unavailable']])('a list of tools that is %s is a typed error', async (deed, code) => {
  const bench = alone(deed)
  await bench.tools.discover?.()

  expect(bench.servers.report()[0]).toMatchObject({ error: { code, hint: expect.any(String) } })
})

test.each([
  ['answers-shapeless', 'tool_output'],
  ['refuses', 'tool_failed'],
])('an answer of a server that %s is a typed error', async (deed, code) => {
  const bench = alone(deed)

  await expect(bench.call('bad__do')).rejects.toMatchObject({ code })
  expect(bench.servers.report()[0]).toMatchObject({ state: 'ready' })
})

test('a server that wants our model to answer is told that this is not offered', async () => {
  const bench = alone('asks', { timeoutMs: 300 })

  await expect(bench.call('bad__do')).rejects.toMatchObject({ code: 'tool_timeout' })
  expect(bench.servers.report()[0]).toMatchObject({ state: 'ready' })
})
