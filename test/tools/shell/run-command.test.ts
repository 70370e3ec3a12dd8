import { access, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { BenchOptions } from '../../../src/contracts/bench.ts'
import { systemClock } from '../../../src/runtime/index.ts'
import { benchTools } from '../../../src/tools/bench.ts'
import { createTools } from '../../../src/tools/registry.ts'
import { trySandboxes } from '../../../src/tools/shell/find-sandbox.ts'
import { aContext, plan } from '../fixtures.ts'

const bwrapWorks = (await trySandboxes()).find(({ kind }) => kind === 'bwrap')?.works === true
if (!bwrapWorks) console.log('bubblewrap does not work on this machine: what happens in its sandbox is not tested, its refusal is')

let folder: string
let workspace: string
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'statecast-shell-')))
  workspace = join(folder, 'desk')
})
afterAll(() => rm(folder, { recursive: true }))
beforeEach(async () => {
  await rm(workspace, { recursive: true, force: true })
  await mkdir(join(workspace, 'notes'), { recursive: true })
  await mkdir(join(workspace, '.statecast'))
  await writeFile(join(workspace, '.statecast', 'token'), 'a token')
  await writeFile(join(workspace, '.env'), 'KEY=secret')
  await writeFile(join(folder, 'beside.txt'), 'untouched')
  await writeFile(join(workspace, 'plan.md'), 'the plan')
})

type Asked = { command: string; args?: string[]; folder?: string }
const toolsWith = (bench: BenchOptions) => {
  const { tools, absent } = benchTools({ shell: true, ...bench }, { workspace, clock: systemClock, closed: [join(workspace, 'notes', 'data')] })
  return { tools: createTools(tools, { clock: systemClock }), absent }
}
const run = (
  input: Asked,
  bench: BenchOptions = { sandbox: 'off' },
  signal = new AbortController().signal,
  env: Record<string, string> = {},
): Promise<any> => {
  const { tools } = toolsWith(bench)
  return tools.run(plan(tools, 'run_command', input), aContext({ signal, env }))
}
const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

test('a person is asked, it is never repeated by itself, and it is not there unless it was asked for', () => {
  const { tools } = toolsWith({})

  expect(plan(tools, 'run_command', { command: 'true' })).toMatchObject({ needsApproval: true, onCrash: 'once' })
  expect(benchTools({}, { workspace, clock: systemClock }).absent).toContainEqual({
    name: 'run_command',
    category: 'shell',
    layer: 'agent',
    why: 'the bench has no shell; shell: true adds it',
  })
})

/** Each runs in the way of the host, and in bubblewrap where that works. */
const ways: ('off' | 'bwrap')[] = bwrapWorks ? ['off', 'bwrap'] : ['off']
describe.each(ways)('with the sandbox %s', (sandbox) => {
  test('a program is run in the workspace, and its end and output are told', async () => {
    expect(await run({ command: 'cat', args: ['plan.md'] }, { sandbox })).toMatchObject({ exitCode: 0, stdout: 'the plan', stderr: '', sandbox })
    expect(await run({ command: 'pwd', folder: 'notes' }, { sandbox })).toMatchObject({ stdout: `${workspace}/notes\n` })
    expect(await run({ command: 'cat', args: ['missing'] }, { sandbox })).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('missing') })
  })

  test.each([
    '; rm -rf .',
    '$(touch made)',
    '`touch made`',
    '&& touch made',
    '| touch made',
    '> made',
    '\ntouch made\n',
    '"; touch made; "',
    "'; touch made; '",
    '*',
    '$HOME',
    '~',
    '\\',
    '-n',
  ])('%j is plain text to it', async (text) => {
    const { stdout } = await run({ command: 'printf', args: ['%s', text] }, { sandbox })

    expect(stdout).toBe(text)
    expect(await isThere(join(workspace, 'made'))).toBe(false)
    expect(await isThere(join(workspace, 'plan.md'))).toBe(true)
  })

  test('a command line in one text is the name of no program', async () => {
    await expect(run({ command: 'touch made; touch made' }, { sandbox: 'off' })).rejects.toMatchObject({ data: { code: 'not_found' } })
    if (sandbox === 'bwrap') expect(await run({ command: 'touch made' }, { sandbox })).toMatchObject({ exitCode: 1 })

    expect(await isThere(join(workspace, 'made'))).toBe(false)
  })

  test('it knows nothing of our environment but where programs are, and what was given', async () => {
    process.env.ANTHROPIC_API_KEY = 'sk-ant-never'
    process.env.SOME_SECRET = 'never'
    try {
      const { stdout } = await run({ command: 'env' }, { sandbox, shell: { env: { MODE: 'test' } } })

      const names = stdout
        .trim()
        .split('\n')
        .map((line: string) => line.split('=')[0])
      expect(names.filter((name: string) => name !== 'PWD').sort()).toEqual(['HOME', 'LANG', 'MODE', 'PATH'])
      expect(stdout).not.toContain('never')
    } finally {
      delete process.env.ANTHROPIC_API_KEY
      delete process.env.SOME_SECRET
    }
  })

  test('[CH-61, CH-62] it has the variables of its skills, and the programs of the environment of its agent; a key stands on no command line', async () => {
    const bin = join(folder, 'bin')
    await mkdir(bin, { recursive: true })
    await writeFile(join(bin, 'align-genes'), '#!/bin/sh\necho "aligned with $SKILL_KEY and $MODE"\n', { mode: 0o755 })
    const env = { SKILL_KEY: 'very-private', MODE: 'of the skill', PATH: `${bin}:${process.env.PATH}` }
    const bench: BenchOptions = { sandbox, shell: { env: { MODE: 'of the shell' } } }
    const asked = new AbortController().signal

    expect(await run({ command: 'align-genes' }, bench, asked, env)).toMatchObject({ stdout: 'aligned with very-private and of the shell\n' })
    const { stdout } = await run({ command: 'sh', args: ['-c', 'cat /proc/self/cmdline /proc/$PPID/cmdline /proc/1/cmdline'] }, bench, asked, env)
    expect(stdout).toContain('cmdline')
    expect(stdout).not.toContain('very-private')
  })

  test('much output is kept with its beginning and its end', async () => {
    const { stdout, truncated } = await run({ command: 'seq', args: ['1', '200000'] }, { sandbox, shell: { outputCharsMax: 1000 } })

    expect(stdout).toMatch(/^1\n2\n3\n[\s\S]*… \(\d+ bytes left out\) …[\s\S]*199999\n200000\n$/)
    expect(stdout.length).toBeLessThan(1100)
    expect(truncated).toBe(true)
  })

  test('what it left running ends with it', async () => {
    const begun = performance.now()

    const { stdout } = await run({ command: 'sh', args: ['-c', '(sleep 1; touch late) & echo begun'] }, { sandbox })

    expect(stdout).toBe('begun\n')
    expect(performance.now() - begun).toBeLessThan(900)
  })

  test('aborting kills it and all that it has begun', async () => {
    const stop = new AbortController()
    const running = run(
      { command: 'sh', args: ['-c', 'touch begun; (while :; do echo x >> alive; sleep 0.02; done) & wait'] },
      { sandbox },
      stop.signal,
    )
    await expect.poll(() => isThere(join(workspace, 'alive'))).toBe(true)

    stop.abort()

    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    // Dead is what does not write any more: two looks that are the same, with several of its rounds between them.
    const size = async () => (await readFile(join(workspace, 'alive'))).length
    await expect
      .poll(async () => {
        const before = await size()
        await new Promise((resolve) => setTimeout(resolve, 100))
        return (await size()) - before
      })
      .toBe(0)
  })

  test('it has the time that it was given', async () => {
    await expect(run({ command: 'sleep', args: ['30'] }, { sandbox, shell: { timeoutMs: 200 } })).rejects.toMatchObject({ code: 'tool_timeout' })
  })
})

test.each([['../'], ['/'], ['out'], ['.statecast'], ['~']])('a command does not begin in %s', async (place) => {
  await symlink(folder, join(workspace, 'out'))

  await expect(run({ command: 'touch', args: ['made'], folder: place })).rejects.toMatchObject({ code: 'tool_failed' })

  expect(await isThere(join(folder, 'made'))).toBe(false)
})

test('only the programs that were named are run', async () => {
  const bench: BenchOptions = { sandbox: 'off', shell: { commands: ['git', 'print*'] } }

  expect(await run({ command: 'printf', args: ['yes'] }, bench)).toMatchObject({ stdout: 'yes' })
  for (const command of ['touch', '/usr/bin/git'])
    await expect(run({ command, args: ['made'] }, bench)).rejects.toMatchObject({
      code: 'tool_input',
      message: expect.stringContaining('git, print*'),
    })
  const { tools } = toolsWith({ ...bench, shell: { commands: ['git'], approval: true } })
  expect(plan(tools, 'run_command', { command: 'touch' })).toMatchObject({ needsApproval: false, problem: { code: 'tool_input' } })
})

describe('in bubblewrap', () => {
  beforeEach(({ skip }) => skip(!bwrapWorks, 'bubblewrap does not work on this machine: install bubblewrap, and allow user namespaces'))

  test('nothing of the machine can be written but the workspace, and little can be read', async () => {
    await mkdir(join(workspace, 'notes', 'data'))
    await writeFile(join(workspace, 'notes', 'data', 'token'), 'a token')
    await writeFile(join(workspace, '.envrc'), 'KEY=secret')
    const script = `echo changed > ${folder}/beside.txt; echo x > /usr/made; cat ${folder}/beside.txt; ls /root /home; echo fine > made.txt; cat .env .envrc .statecast/token notes/data/token; true`

    const { stdout, exitCode } = await run({ command: 'sh', args: ['-c', script] }, { sandbox: 'bwrap' })

    expect(exitCode).toBe(0)
    expect(stdout).not.toMatch(/untouched|secret|token/)
    expect(await readFile(join(folder, 'beside.txt'), 'utf8')).toBe('untouched')
    expect(await isThere('/usr/made')).toBe(false)
    expect(await readFile(join(workspace, 'made.txt'), 'utf8')).toBe('fine\n')
  })

  test('there is no network, unless it was asked for', async () => {
    const devices = async (network: boolean) => {
      const { stdout } = await run({ command: 'cat', args: ['/proc/net/dev'] }, { sandbox: { mode: 'bwrap', network } })
      return (stdout as string).split('\n').flatMap((line) => /^\s*(\w+):/.exec(line)?.[1] ?? [])
    }

    expect(await devices(false)).toEqual(['lo'])
    expect(await devices(true)).toEqual(expect.arrayContaining(['lo']))
  })

  test('with access ro nothing is written, and with none nothing is there', async () => {
    const readOnly = await run({ command: 'touch', args: ['made'] }, { sandbox: { mode: 'bwrap', access: 'ro' } })
    const without = await run({ command: 'ls', args: ['-A'] }, { sandbox: { mode: 'bwrap', access: 'none' } })

    expect(readOnly).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/read-only/i) })
    expect(without).toMatchObject({ exitCode: 0, stdout: '' })
    expect(await isThere(join(workspace, 'made'))).toBe(false)
  })
})

test('a sandbox that is not there runs nothing, and says what is missing', async () => {
  const path = process.env.PATH
  process.env.PATH = join(folder, 'no-programs')
  try {
    for (const sandbox of ['auto', 'bwrap', 'docker', 'podman'] as const)
      await expect(run({ command: '/usr/bin/touch', args: ['made'] }, { sandbox })).rejects.toMatchObject({
        code: 'tool_failed',
        data: { code: 'unsupported' },
        message: expect.stringContaining('nothing was run'),
        hint: expect.stringContaining("sandbox: 'off'"),
      })
  } finally {
    process.env.PATH = path
  }
  expect(await isThere(join(workspace, 'made'))).toBe(false)
})

test.each([
  [{ files: 'rw', sandbox: { access: 'ro' } }, ['calculate', 'now', 'read_file', 'list_files', 'search_files', 'run_command']],
  [{ files: 'rw', sandbox: { access: 'none' } }, ['calculate', 'now', 'run_command']],
  [{ files: 'rw', shell: false, sandbox: 'off' }, ['calculate', 'now', 'read_file', 'list_files', 'search_files', 'write_file', 'edit_file']],
  [{ files: false, shell: false }, ['calculate', 'now']],
  [{ shell: false, disable: ['basic', 'files'] }, []],
] as [BenchOptions, string[]][])('the bench %j has %j', (bench, names) => {
  expect(toolsWith(bench).tools.names).toEqual(names)
})
