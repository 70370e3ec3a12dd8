/** What is said twice, and differently, is refused: by options, by the environment, by the app. */
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { encode } from '../../src/actors/index.ts'
import { commandLine } from '../../src/cli/main.ts'
import { toBase64 } from '../../src/contracts/bytes.ts'
import { aFolder, statecast } from './run.ts'

let folder = ''
let env: Record<string, string> = {}
let printed = ''
beforeEach(() => {
  folder = aFolder()
  env = {}
})

/** @returns the exit code */
const main = async (argv: readonly string[]): Promise<number | null> => {
  const { code, stdout, stderr } = await statecast({ folder, env }, ...argv)
  printed = stdout + stderr
  return code
}

const program = commandLine(() => async () => undefined)
/** What a command must be given at the least. */
const wordsOf: Record<string, string[]> = Object.fromEntries(
  program.commands.map((command) => [
    command.name(),
    [
      ...command.registeredArguments.map((_, index) => `word${index}`),
      ...command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [`${long}`, 'word']),
    ],
  ]),
)
const commands = Object.keys(wordsOf)
/** Those that never ask where the data is. */
const withoutData = ['machines', 'permissions', 'test']

const app = (text: string): string => {
  const file = join(folder, 'app.mjs')
  writeFileSync(file, `export default ${text}`)
  return file
}

/** A file that import gets as far as a store with. */
const anExport = (): string => {
  const file = join(folder, 'export')
  const commit = { v: 1, address: 'session/s', seq: 1, epoch: 1, writer: 'n', at: 1, prev: 0, inputs: [], states: {}, digest: 0 }
  const bytes = toBase64(encode(commit))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const lines = [
    { statecast: 'journal', version: 1, address: 'session/s' },
    { seq: 1, bytes },
    { commits: 1, wakeAt: null, sha256 },
  ]
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}

/** Every way to say where the data is. */
const ways = {
  '--url': (place: string) => ({ before: ['--url', place] }),
  '--data': (place: string) => ({ after: ['--data', place.replace(/^embedded:/, '')] }),
  STATECAST_URL: (place: string) => {
    env = { STATECAST_URL: place }
    return {}
  },
  "the app's transport": (place: string) => ({ before: ['--app', app(`{ transport: '${place}' }`)] }),
}
type Way = keyof typeof ways
type Parts = { before?: string[]; after?: string[] }

const pairs = (Object.keys(ways) as Way[]).flatMap((one, index, all) => all.slice(index + 1).map((other) => [one, other] as const))
const cases = commands.flatMap((command) =>
  pairs
    .filter(([one, other]) => command === 'up' || (one !== '--data' && other !== '--data'))
    .filter(([, other]) => other !== "the app's transport" || !withoutData.includes(command))
    .map(([one, other]) => [command, one, other] as const),
)

/** @param places of one and of the other */
const run = (command: string, one: Way, other: Way, places: readonly [string, string]): Promise<number | null> => {
  const parts: Parts[] = [ways[one](places[0]), ways[other](places[1])]
  const given = (where: keyof Parts) => parts.flatMap((part) => part[where] ?? [])
  const words = command === 'import' ? [anExport()] : (wordsOf[command] ?? [])
  return main([...given('before'), command, ...words, ...given('after')])
}

test.each(cases)('%s: where %s and %s name different places, neither is taken', async (command, one, other) => {
  const places = [`embedded:${join(folder, 'a')}`, `embedded:${join(folder, 'b')}`] as const

  expect(await run(command, one, other, places)).toBe(2)

  const text = printed
  expect(text).toMatch(/contradict each other \[bad_request\]\nhint: leave one of them out/)
  expect(text).toContain(one)
  expect(text).toContain(other)
  expect(places.map((place) => existsSync(place.slice('embedded:'.length)))).toEqual([false, false])
})

test('a server and a folder contradict each other, and what is said of the server holds no password', async () => {
  expect(await main(['--url', 'nats://ada:secret@127.0.0.1:1', 'up', '--data', join(folder, 'data')])).toBe(2)

  expect(printed).toContain('--url and --data contradict each other')
  expect(printed).not.toContain('secret')
  expect(existsSync(join(folder, 'data'))).toBe(false)
})

test('the same place said twice is one place, however it is written', async () => {
  env = { STATECAST_URL: `embedded:${folder}/./data/` }

  expect(await main(['--url', `embedded:${join(folder, 'data')}`, '--app', app(`{ transport: 'embedded:${folder}/x/../data' }`), 'sessions'])).toBe(0)
})

test.each([
  ['--url', ['--url', 'embedded:a', '--url', 'embedded:b', 'sessions']],
  ['--url', ['--url', 'embedded:a', 'sessions', '--url', 'embedded:b']],
  ['--limit', ['history', 'main', '--limit', '1', '--limit', '2']],
  ['--agent', ['chat', '--agent', 'a', '--agent', 'b']],
])('%s given twice with different values is refused', async (flag, argv) => {
  expect(await main(argv)).toBe(2)
  expect(printed).toContain(`${flag} was given twice`)
})

test.each([
  ['--wait', '--no-wait', ['send', 'main', 'hi', '--wait', '--no-wait']],
  ['named first', '--session', ['chat', 'a', '--session', 'b']],
  ['--json', '--format mermaid', ['machines', '--json', '--format', 'mermaid']],
])('%s and %s are not taken together', async (one, other, argv) => {
  expect(await main(argv)).toBe(2)
  expect(printed).toContain(one)
  expect(printed).toContain(`${other} contradict each other`)
})

test.each([
  ['--retain-days', '{ retention: { idleDays: 3 } }', ['--retain-days', '4']],
  ['--no-resume', '{ resume: true }', ['--no-resume']],
  ['--roles', "{ roles: ['tool'] }", ['--roles', 'turn,tool']],
])('%s and an app that says otherwise are not taken together', async (option, text, more) => {
  expect(await main(['--app', app(text), '--url', `embedded:${join(folder, 'data')}`, 'up', '--port', '0', ...more])).toBe(2)
  expect(printed).toContain(`${option} and the app's`)
})

test('the roles of the app count where the command line names none', async () => {
  expect(await main(['--app', app("{ roles: ['tool'] }"), '--url', `embedded:${join(folder, 'data')}`, 'up', '--port', '0'])).toBe(1)
  expect(printed).toContain('a node with an embedded store has all roles [unsupported]')
})
