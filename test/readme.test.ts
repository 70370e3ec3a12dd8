/** What the README shows a newcomer to copy does what it says. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { pay } from '../examples/05-approval/pay.ts'
import { agent, createRuntime } from '../src/index.ts'
import { textOf } from './tidy/sources.ts'

const root = join(import.meta.dirname, '..')

test('the code of the README runs as it stands and prints the answer of its own tool', async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const code = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? ''
  // Inside of the repository, so that zod is found; `statecast` is the source that the test is about.
  const folder = mkdtempSync(join(root, 'node_modules', '.readme-'))
  try {
    // As JavaScript: types are not stripped below node_modules, and the sample has none.
    writeFileSync(join(folder, 'main.mjs'), code.replaceAll("'statecast'", JSON.stringify(join(root, 'src/index.ts'))))

    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'main.mjs')], {
      cwd: folder,
      env: { ...process.env, STATECAST_MODEL: 'scripted/offline' },
    })

    expect(code).toContain('createRuntime')
    expect(stdout).toContain('add: 42')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('what the README says to type, to see a tool ask, makes that tool ask', async () => {
  const readme = textOf('README.md')
  const [, typed = ''] = /`(pay \{.*?\})`/.exec(readme) ?? []
  const runtime = await createRuntime({ transport: 'memory:', agents: [agent({ name: 'main', model: 'scripted/offline', tools: [pay] })] })
  try {
    const session = runtime.session('main')
    await session.send(typed)

    await expect.poll(async () => (await session.view()).approvals).toMatchObject([{ name: 'pay', input: { to: 'the plumber', euros: 480 } }])
    expect(readme).toContain('npx statecast up --app examples/05-approval/pay.ts')
  } finally {
    await runtime.close()
  }
})

test('the first thirty lines say what it is for, show code, and name the two commands', () => {
  const screen = textOf('README.md').split('\n').slice(0, 30).join('\n')

  expect(screen).toMatch(/```ts\nimport .* from 'statecast'\n/)
  expect(screen).toContain('npm ci && npm run demo')
  expect(screen).toContain('npm ci && npm test')
  expect(screen).toContain('kill -9')
})

test('every cost says which way is better, and every comparison who is ahead', () => {
  const [, table = ''] = /<!-- costs: .*?-->\n\n(.*?)\n\n.*?<!-- end of costs -->/s.exec(textOf('README.md')) ?? []
  const [head, , ...rows] = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))

  expect(head).toEqual(['', 'what', 'measured', 'better', 'compared with', ''])
  expect(rows.length).toBeGreaterThan(3)
  for (const row of rows) {
    expect(row[3]).toMatch(/^(?:lower|higher)$/)
    for (const comparison of row[4]!.split(/, (?=\d)/)) if (comparison.includes('×')) expect(comparison).toMatch(/^[\d.,]+ × (?:faster|slower) than /)
  }
})

test('pages keep to a readable width: prose of the README and of the new pages fits into 140 columns', () => {
  for (const page of ['README.md', 'docs/guides/models.md', 'docs/reference/events.md', 'docs/design/glossary.md'])
    expect(
      textOf(page)
        .replace(/```.*?```/gs, '')
        .split('\n')
        .filter((line) => line.length > 140 && !/^(?:\|| {4})/.test(line)),
    ).toEqual([])
})

test('the page of events names each that a session emits', () => {
  const emitted = ['src/contracts/session.ts', 'src/contracts/channel.ts'].flatMap((file) => {
    const [, union = ''] = /export type (?:Session|Delivery)Output =\n(.*?)(?:\n\n|$)/s.exec(textOf(file)) ?? []
    return [...union.matchAll(/^(?: {2}\| \(?\{ | {6})type: '([a-z]+)'/gm)].map(([, type]) => type)
  })

  expect(emitted.length).toBeGreaterThan(20)
  const rows = textOf('docs/reference/events.md').replaceAll('` * |', '` |')
  for (const type of emitted) expect(rows).toContain(`| \`${type}\` |`)
})
