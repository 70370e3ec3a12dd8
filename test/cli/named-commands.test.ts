/** Every command line that a hint, a help text or a page names can be typed: its command is there, and so are its options. */
import { type Command, CommanderError } from 'commander'
import { expect, test } from 'vitest'
import { commandLine } from '../../src/cli/main.ts'
import { commands } from '../../src/contracts/commands.ts'
import { corruptAt } from '../../src/transport/checksum.ts'
import { filesUnder, textOf, withoutComments } from '../tidy/sources.ts'

const program = commandLine(() => async () => undefined)
const commandNamed = (name: string): Command | undefined => program.commands.find((command) => command.name() === name)
const flagsOf = (command: Command): string[] => command.options.flatMap(({ long, short }) => [long ?? '', short ?? ''])

const sources = filesUnder('src').filter((path) => path.endsWith('.ts'))
const pages = [
  ...filesUnder('docs'),
  ...filesUnder('examples'),
  ...filesUnder('docker'),
  'README.md',
  'CONTRIBUTING.md',
  'docker-compose.yml',
].filter((path) => /\.(md|ya?ml|ts|py|sh)$/.test(path))

/** Where they are written as prose: what the program says of itself. */
const prose = new Set([
  'is',
  'a',
  'and',
  'as',
  'in',
  'on',
  'from',
  'the',
  'that',
  'with',
  'dev',
  'config',
  'to',
  'itself',
  'this',
  'node',
  'or',
  'can',
])

type Named = { where: string; text: string; words: string[] }

/** What follows the name of the program, up to where the command line ends. */
const named = (where: string, text: string): Named[] =>
  [...text.matchAll(/(?<![\w/.@-])statecast((?: +(?:'[^'\n]*'|"[^"\n]*"|[^\s`'"();|&#<>]+))+)/g)].map(([all, rest = '']) => ({
    where: `${where}: ${all.slice(0, 100)}`,
    text: all,
    words: rest
      .trim()
      .split(/ +/)
      .map((word) => word.replace(/[,.:…\\]+$/, '')),
  }))

/** Each is what a template puts in, as one word. */
const withoutTemplates = (text: string): string => text.replace(/\$\{[^{}]*\}/g, 'X')

const allNamed: Named[] = [
  ...sources.flatMap((path) => named(path, withoutTemplates(withoutComments(textOf(path))).replaceAll("\\'", "'"))),
  ...pages.flatMap((path) => named(path, textOf(path))),
]

/** @returns what is wrong with it */
const problem = ({ words }: Named): string | undefined => {
  const globals = flagsOf(program)
  const at = words.findIndex((word, index) => !word.startsWith('-') && !['--url', '--app'].includes(words[index - 1] ?? ''))
  const before = words.slice(0, at === -1 ? words.length : at)
  const wrong = before.find((word) => word.startsWith('-') && ![...globals, '--help', '--version'].includes(word.split('=')[0] ?? ''))
  if (wrong) return `there is no option ${wrong}`
  const name = at === -1 ? undefined : words[at]
  if (name === undefined || prose.has(name) || /[^a-z]/.test(name)) return undefined
  const command = commandNamed(name)
  if (command === undefined) return `there is no command '${name}'`
  // `token create` has options of its own.
  const inner = command.commands.find((one) => one.name() === words[at + 1])
  const known = [...globals, ...flagsOf(command), ...(inner ? flagsOf(inner) : []), '--help', '-h', '--', '-']
  const unknown = words.slice(at + 1).find((word) => /^--?[a-z]/.test(word) && !known.includes(word.split('=')[0] ?? ''))
  return unknown === undefined ? undefined : `'${name}' has no option ${unknown}`
}

test('hints, help and pages name commands and options that exist', () => {
  expect(allNamed.length).toBeGreaterThan(90)
  expect(allNamed.flatMap((one) => (problem(one) === undefined ? [] : [`${one.where} → ${problem(one)}`]))).toEqual([])
})

test('this test sees a command, and an option, that do not exist', () => {
  const wrong = ['see statecast mend main', 'statecast send --later a b', 'run `npx statecast --uri x up`', "'statecast repair session/s'"]

  expect(wrong.map((text) => named('', text).map(problem))).toEqual([
    ["there is no command 'mend'"],
    ["'send' has no option --later"],
    ['there is no option --uri'],
    ["there is no command 'repair'"],
  ])
})

test('what is said of a damaged journal is something that can be done', () => {
  expect(corruptAt({ kind: 'session', id: 's' }, 6, 'a checksum does not fit').hint).toContain('statecast replay session/s --to 5')
  expect(corruptAt({ kind: 'session', id: 's' }, 1, 'a checksum does not fit').hint).not.toContain('statecast')
})

test('commands of programs that a hint names are in their list', () => {
  const groups = new Set(Object.keys(commands).map((name) => name.split('.')[0]))
  const said = sources.flatMap((path) =>
    [...withoutComments(textOf(path)).matchAll(/`([a-z]+\.[a-z]+)`(?!:)/g)].flatMap(([, name = '']) =>
      groups.has(name.split('.')[0] ?? '') ? [name] : [],
    ),
  )

  expect(said.length).toBeGreaterThan(0)
  expect(said.filter((name) => !Object.hasOwn(commands, name))).toEqual([])
})

test('hints that are put together name commands that exist', () => {
  const names = sources.flatMap((path) => [...textOf(path).matchAll(/hintCommand\(\w+, '([^']*)'/g)].map(([, name]) => name ?? ''))

  expect(names.length).toBeGreaterThan(8)
  const isWhole = (line: string) => {
    const [name = '', ...flags] = line.split(' ')
    const command = commandNamed(name)
    return command !== undefined && flags.every((flag) => flagsOf(command).includes(flag))
  }
  expect(names.filter((name) => !isWhole(name))).toEqual([])
})

/** Options of other programs that our texts name. */
const foreign = new Set(['--import', '--omit', '--tag', '--watch', '--ignore-scripts', '--user', '--experimental-transform-types'])

/** It puts together command lines of sandboxes. */
const ofSandboxes = 'src/tools/shell/'

test('an option that a text of the source names is one of ours', () => {
  const ours = new Set([
    '--help',
    '--version',
    ...[program, ...program.commands, ...program.commands.flatMap((one) => one.commands)].flatMap(flagsOf),
  ])
  const strings = sources
    // Variables of style sheets look like options.
    .filter((path) => !path.startsWith(ofSandboxes) && !path.endsWith('.style.ts'))
    .flatMap((path) =>
      [...withoutComments(textOf(path)).matchAll(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g)].flatMap(([text]) =>
        [...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([option]) => `${path}: ${option}`),
      ),
    )

  expect(strings.length).toBeGreaterThan(20)
  expect(strings.filter((one) => !ours.has(one.split(': ')[1] ?? '') && !foreign.has(one.split(': ')[1] ?? ''))).toEqual([])
})

/** Lines of the shell blocks of our pages that run the program, without what a shell does with them. */
const typed = pages
  .filter((path) => path.endsWith('.md'))
  .flatMap((path) =>
    [...textOf(path).matchAll(/```(?:sh|bash|console)?\n([^`]*)```/g)].flatMap(([, block = '']) =>
      block.split('\n').flatMap((line) => {
        const [, rest] = /^(?:\$ )?(?:\w+=\S* )*(?:npx )?statecast (.*)$/.exec(line.trim()) ?? []
        return rest === undefined ? [] : [{ where: `${path}: ${line.trim()}`, rest: rest.replace(/\s+#.*$|\s*[|>&;].*$/, '') }]
      }),
    ),
  )

test.each(typed)('$where can be typed', async ({ rest }) => {
  const words = [...rest.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? '')
  const refused = await commandLine(() => async () => undefined)
    .parseAsync(words, { from: 'user' })
    .then(
      () => undefined,
      (error: unknown) => (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help') ? undefined : String(error)),
    )

  expect(refused).toBeUndefined()
})
