/** Commands that attack the machine they run on: each ends at a limit, is named after it, and leaves nothing. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isAlive } from '../../../scripts/nats-server.ts'
import type { SandboxLimits } from '../../../src/contracts/bench.ts'
import { systemClock } from '../../../src/runtime/index.ts'
import { benchTools } from '../../../src/tools/bench.ts'
import { createTools } from '../../../src/tools/registry.ts'
import { findCgroups, makeCgroup } from '../../../src/tools/shell/cgroup.ts'
import { boundCommand } from '../../../src/tools/shell/command-bounds.ts'
import { watchGrowth } from '../../../src/tools/shell/disk-growth.ts'
import { trySandboxes } from '../../../src/tools/shell/find-sandbox.ts'
import { commandLimits } from '../../../src/tools/shell/limits.rules.ts'
import { type FoundMachine, thisMachine } from '../../../src/tools/shell/machine.ts'
import { runProcess } from '../../../src/tools/shell/process.ts'
import { afterThisTest } from '../../support/cleanup.ts'
import { repository } from '../../tidy/sources.ts'
import { aContext, plan } from '../fixtures.ts'

const bwrapWorks = (await trySandboxes()).find(({ kind }) => kind === 'bwrap')?.works === true
const isLinux = process.platform === 'linux'
const mebibyte = 1024 ** 2

const aWorkspace = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'statecast-limits-')))
  afterThisTest(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

type Way = 'off' | 'bwrap' | 'docker'
const run = (
  mode: Way,
  script: string,
  limits: SandboxLimits = {},
  signal = new AbortController().signal,
  workspace = aWorkspace(),
): Promise<any> => {
  const { tools } = benchTools({ shell: { timeoutMs: 20_000 }, sandbox: { mode, limits } }, { workspace, clock: systemClock })
  const made = createTools(tools, { clock: systemClock })
  return made.run(plan(made, 'run_command', { command: 'sh', args: ['-c', script] }), aContext({ signal }))
}

/** In the way of a machine that offers no cgroups. */
const runWatched = async (script: string, limits: SandboxLimits = {}, signal = new AbortController().signal, workspace = aWorkspace()) => {
  const { machine } = thisMachine()
  const bare: FoundMachine = { machine: { ...machine, controllers: [] }, parents: { version: undefined, folders: new Map() } }
  const bounds = await boundCommand({ kind: 'off', limits: commandLimits(undefined, limits), writable: workspace }, bare)
  const env = { PATH: process.env.PATH ?? '' }
  try {
    return await runProcess({ file: 'sh', args: ['-c', script], env, cwd: workspace, outputBytesMax: 10_000, signal, bounds })
  } finally {
    await bounds.close()
  }
}

/** Loops that need no program but a shell and those of every system. */
const attacks: [string, keyof SandboxLimits, number, string][] = [
  ['many processes', 'processes', 30, 'for i in $(seq 200); do sleep 60 & done; wait'],
  ['a bomb of shells', 'processes', 30, 'bomb() { bomb | bomb & }; bomb; sleep 60'],
  ['processes that leave its session', 'processes', 30, 'for i in $(seq 200); do setsid sh -c "sleep 60 & sleep 60" & done; wait'],
  ['one process that takes memory', 'memoryBytes', 64 * mebibyte, 'tail /dev/zero'],
  [
    'many processes that take memory together',
    'memoryBytes',
    96 * mebibyte,
    'for i in $(seq 12); do { head -c 20000000 /dev/zero; sleep 60; } | tail > /dev/null & done; wait',
  ],
  ['a large file', 'fileBytes', 2 * mebibyte, 'head -c 9000000 /dev/zero > big'],
  ['a sparse file', 'fileBytes', 2 * mebibyte, 'truncate -s 9M big'],
  ['many files', 'workspaceBytes', 4 * mebibyte, 'i=0; while :; do i=$((i+1)); head -c 100000 /dev/zero > f$i; sleep 0.01; done'],
  ['a file without a name', 'workspaceBytes', 4 * mebibyte, 'exec 3> f; rm f; head -c 30000000 /dev/zero >&3; sleep 60'],
  ['a loop', 'cpuMs', 1_000, 'while :; do :; done'],
]

const ways: ('off' | 'bwrap' | 'watched')[] = !isLinux ? [] : bwrapWorks ? ['off', 'bwrap', 'watched'] : ['off', 'watched']
describe.each(ways)('[CH-98] a command that is %s', (way) => {
  // Only a cgroup keeps a bomb of root from outrunning the node for a while.
  const possible = attacks.filter(([name]) => way !== 'watched' || name !== 'a bomb of shells')
  test.each(possible)('ends at its limit with %s', { timeout: 30_000 }, async (_, limit, value, script) => {
    const running = way === 'watched' ? runWatched(script, { [limit]: value }) : run(way, script, { [limit]: value })

    const error = await running.then(
      (output) => ({ output }),
      (thrown) => thrown,
    )
    expect(error).toMatchObject({
      code: 'sandbox_limit',
      hint: expect.stringContaining(`sandbox.limits.${limit}`),
      data: { limit, value, stdout: expect.any(String), stderr: expect.any(String) },
    })
  })

  test('is not stopped below its limits', async () => {
    const script = 'for i in 1 2 3; do sleep 0.1 & done; wait; head -c 1000000 /dev/zero > f; echo done'
    const limits = { processes: 30, memoryBytes: 64 * mebibyte, fileBytes: 2 * mebibyte, workspaceBytes: 4 * mebibyte, cpuMs: 10_000 }

    expect(await (way === 'watched' ? runWatched(script, limits) : run(way, script, limits))).toMatchObject({ exitCode: 0, stdout: 'done\n' })
  })

  test('is not stopped for what another program writes beside the workspace', async () => {
    const workspace = aWorkspace()
    writeFileSync(join(workspace, 'old'), Buffer.alloc(9_000_000, 1))
    // Older than the command, as far as the clock of a file system can tell.
    await expect.poll(() => Date.now() - statSync(join(workspace, 'old')).ctimeMs, { timeout: 5_000 }).toBeGreaterThan(1_100)
    const script = `head -c 9000000 /dev/zero > ${aWorkspace()}/beside; sleep 0.4; echo done`
    const limits = { workspaceBytes: 4 * mebibyte }

    const ended = way === 'watched' ? runWatched(script, limits, undefined, workspace) : run('off', script, limits, undefined, workspace)

    expect(await ended).toMatchObject({ exitCode: 0, stdout: 'done\n' })
  })

  test.each(['sleep 300', 'setsid sleep 300', 'sh -c "setsid sleep 300 &"'])('leaves no process of `%s` behind', async (left) => {
    // The only process on this machine that sleeps so long.
    const seconds = String(300_000 + (Math.floor(performance.now() * 1000) % 1e9))
    const script = `${left.replace('300', seconds)} > /dev/null 2>&1 & sleep 0.1; echo begun`
    const isThere = () => processes().some((line) => line.includes(seconds))

    expect(await (way === 'watched' ? runWatched(script) : run(way, script))).toMatchObject({ exitCode: 0, stdout: 'begun\n' })

    await expect.poll(isThere).toBe(false)
  })

  test('is killed where it ignores signals', async () => {
    const workspace = aWorkspace()
    const stop = new AbortController()
    const script = 'trap "" TERM INT HUP; touch begun; while :; do echo x >> alive; sleep 0.02; done'
    const running = way === 'watched' ? runWatched(script, {}, stop.signal, workspace) : run(way, script, {}, stop.signal, workspace)
    await expect.poll(() => existsSync(join(workspace, 'alive'))).toBe(true)

    stop.abort()

    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    await expectStill(join(workspace, 'alive'))
  })
})

/** Command lines of all processes. */
const processes = (): string[] =>
  readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8')] : []
    } catch {
      return []
    }
  })

/** Dead is what does not write any more: two looks that are the same, with several of its rounds between them. */
const expectStill = (path: string) =>
  expect
    .poll(async () => {
      const before = readFileSync(path).length
      await new Promise((resolve) => setTimeout(resolve, 100))
      return readFileSync(path).length - before
    })
    .toBe(0)

describe('[CH-98] in bubblewrap', () => {
  test.skipIf(!bwrapWorks).each(['/tmp', '/dev/shm'])('%s is bounded', async (folder) => {
    await expect(run('bwrap', `head -c 9000000 /dev/zero > ${folder}/big`, { tmpBytes: 2 * mebibyte })).rejects.toMatchObject({
      code: 'sandbox_limit',
      data: { limit: 'tmpBytes' },
    })
  })

  test.skipIf(!bwrapWorks)('nothing is written to memory of the machine beside its temporary folders', async () => {
    const workspace = aWorkspace()
    mkdirSync(join(workspace, '.statecast'))
    const script = 'for folder in / /dev /usr /lib .statecast; do echo x > $folder/made && echo wrote $folder; done; true'

    expect(await run('bwrap', script, {}, undefined, workspace)).toMatchObject({ exitCode: 0, stdout: '' })
  })

  test.skipIf(!bwrapWorks)('no space is taken without writing it', async () => {
    const workspace = aWorkspace()

    const { exitCode, stderr } = await run('bwrap', 'fallocate -l 1M big', {}, undefined, workspace)

    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('not supported') })
    expect(await run('bwrap', 'ls -l /proc/self/fd | grep -c " 3 -> pipe" || true', {}, undefined, workspace)).toMatchObject({ stdout: '0\n' })
  })

  test.skipIf(!bwrapWorks)('files of keys at the top of the workspace are empty, whatever follows `.env`', async () => {
    const workspace = aWorkspace()
    const names = ['.env', '.env.local', '.env.production.local', '.envrc', '.env-old']
    for (const name of names) writeFileSync(join(workspace, name), 'KEY=secret')

    const { stdout } = await run('bwrap', `ls -A; cat ${names.join(' ')}`, {}, undefined, workspace)

    expect(stdout.trim().split('\n').toSorted()).toEqual(names.toSorted())
  })
})

/** A program called docker that keeps what it was asked, and whose containers run until they are killed. */
const aDocker = (): { path: string; asked: () => string[] } => {
  const folder = aWorkspace()
  const log = join(folder, 'asked')
  const script = `#!/bin/sh\necho "$*" >> '${log}'\n[ "$1" = run ] && exec sleep 300\nexit 0\n`
  writeFileSync(join(folder, 'docker'), script)
  chmodSync(join(folder, 'docker'), 0o755)
  const path = process.env.PATH
  process.env.PATH = `${folder}${delimiter}${path}`
  afterThisTest(() => {
    process.env.PATH = path
  })
  return { path: folder, asked: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []) }
}

describe.skipIf(!isLinux)('in a container', () => {
  const nameIn = (lines: string[]) => lines.flatMap((line) => /^run .*--name=(statecast-\w+)/.exec(line)?.[1] ?? [])[0]

  test('stopping a command kills its container', async () => {
    const { asked } = aDocker()
    const stop = new AbortController()
    const running = run('docker', 'sleep 1', {}, stop.signal)
    await expect.poll(() => nameIn(asked())).toBeDefined()

    stop.abort()

    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    await expect.poll(asked).toContain(`kill ${nameIn(asked())}`)
  })

  test('a command that lets the workspace grow too far has its container killed', async () => {
    const { asked } = aDocker()
    const workspace = aWorkspace()
    const running = run('docker', 'true', { workspaceBytes: 4 * mebibyte }, undefined, workspace)
    await expect.poll(() => nameIn(asked())).toBeDefined()

    writeFileSync(join(workspace, 'big'), Buffer.alloc(9_000_000, 1))

    await expect(running).rejects.toMatchObject({ code: 'sandbox_limit', data: { limit: 'workspaceBytes' } })
    await expect.poll(asked).toContain(`kill ${nameIn(asked())}`)
  })

  test('limits are passed to it, and files of keys are hidden', async () => {
    const { asked } = aDocker()
    const workspace = aWorkspace()
    writeFileSync(join(workspace, '.env.local'), 'KEY=secret')
    const stop = new AbortController()
    const limits = { processes: 99, memoryBytes: 64 * mebibyte, fileBytes: 8192, tmpBytes: mebibyte, cpuMs: 1500 }
    const running = run('docker', 'true', limits, stop.signal, workspace)
    await expect.poll(() => nameIn(asked())).toBeDefined()
    stop.abort()
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })

    const line = asked().find((one) => one.startsWith('run ')) ?? ''
    for (const option of [
      '--pids-limit=100',
      '--memory=67108864b',
      '--memory-swap=67108864b',
      '--ulimit=fsize=8192:8192',
      '--ulimit=cpu=2:3',
      '--tmpfs=/tmp:size=1048576',
      '--shm-size=1048576b',
      'target=/workspace/.env.local',
    ])
      expect(line).toContain(option)
  })
})

describe.skipIf(!isLinux)('a node that is killed', () => {
  /** A process that runs one command and can be killed in the middle of it. */
  const aNode = (mode: Way, script: string, workspace: string) => {
    const source = `
      import { benchTools } from ${JSON.stringify(join(repository, 'src/tools/bench.ts'))}
      const clock = { now: () => Date.now() }
      const { tools } = benchTools({ shell: true, sandbox: ${JSON.stringify(mode)} }, { workspace: ${JSON.stringify(workspace)}, clock })
      const tool = tools.find(({ name }) => name === 'run_command')
      await tool.execute({ command: 'sh', args: ['-c', ${JSON.stringify(script)}], folder: '.' }, { signal: new AbortController().signal })`
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: 'ignore', env: process.env })
    afterThisTest(() => child.kill('SIGKILL'))
    return child
  }
  const loop = 'echo $$ >> pids; while :; do echo x >> alive; sleep 0.02; done'
  const cgroupsOf = (pid: number | undefined): string[] =>
    [...findCgroups().folders.values()].flatMap((folder) =>
      readdirSync(folder).filter((name) => name.startsWith('statecast-') && name.includes(`-${pid}-`)),
    )

  test.each([['off', loop], ['off', `setsid sh -c '${loop}' & sleep 300`], ...(bwrapWorks ? ([['bwrap', loop]] as const) : [])] as const)(
    'takes its commands with it in the sandbox %s: %s',
    { timeout: 30_000 },
    async (mode, script) => {
      const workspace = aWorkspace()
      const child = aNode(mode, script, workspace)
      await expect.poll(() => existsSync(join(workspace, 'alive')), { timeout: 10_000 }).toBe(true)

      child.kill('SIGKILL')

      await expectStill(join(workspace, 'alive'))
      if (mode === 'off')
        await expect
          .poll(() =>
            readFileSync(join(workspace, 'pids'), 'utf8')
              .trim()
              .split('\n')
              .some((pid) => isAlive(Number(pid))),
          )
          .toBe(false)
      await expect.poll(() => cgroupsOf(child.pid), { timeout: 5_000 }).toEqual([])
    },
  )

  test('takes its containers with it', { timeout: 30_000 }, async () => {
    const { asked } = aDocker()
    const child = aNode('docker', 'true', aWorkspace())
    await expect.poll(() => asked().some((line) => line.startsWith('run ')), { timeout: 10_000 }).toBe(true)

    child.kill('SIGKILL')

    await expect.poll(() => asked().some((line) => line.startsWith('kill statecast-')), { timeout: 5_000 }).toBe(true)
  })
})

test.skipIf(!isLinux)('a command whose background work still starts processes at its end has met no limit', async () => {
  const script = '(while :; do sleep 0.001; done) > /dev/null 2>&1 & sleep 0.1; exec 2>&-; echo done'

  expect(await run('off', script, { processes: 30 })).toMatchObject({ exitCode: 0, stdout: 'done\n' })
})

describe('a disk that becomes full', () => {
  /** A look at a disk with so much free space, one value a look. */
  const looks = async (keepFree: number, ...free: number[]) => {
    const folder = aWorkspace()
    const places = [
      { folder, limit: 'workspaceBytes' as const, bytes: 1e12 },
      { folder: '/missing', limit: 'tmpBytes' as const, bytes: 1 },
    ]
    const look = await watchGrowth(places, keepFree, Date.now(), (path) => Promise.resolve(path === folder ? free.shift() : undefined))
    const found: unknown[] = []
    while (free.length > 0) found.push(await look(() => []))
    return found
  }

  test('ends the command before it is', async () => {
    expect(await looks(500, 10_000, 900, 501, 499)).toEqual([undefined, undefined, 'freeBytes'])
  })

  test('leaves half of the little that was free', async () => {
    expect(await looks(500, 300, 151, 149)).toEqual([undefined, 'freeBytes'])
  })
})

test('a cgroup of version 2 is bounded by the files of that version', () => {
  const parent = aWorkspace()
  const cgroup = makeCgroup({
    version: 2,
    folders: new Map([
      ['pids', parent],
      ['memory', parent],
    ]),
  })
  const [folder = ''] = cgroup.folders
  cgroup.limit(commandLimits(undefined, { processes: 7, memoryBytes: 64 * mebibyte }))
  const files = ['pids.max', 'memory.max', 'memory.swap.max', 'memory.oom.group'].map((name) => readFileSync(join(folder, name), 'utf8'))

  expect(dirname(folder)).toBe(parent)
  expect(files).toEqual(['7', '67108864', '0', '1'])
  expect(cgroup.met()).toBeUndefined()
  writeFileSync(join(folder, 'pids.events'), 'max 3\n')
  expect(cgroup.met()).toBe('processes')
  writeFileSync(join(folder, 'memory.events'), 'low 0\noom 2\noom_kill 1\n')
  expect(cgroup.met()).toBe('memoryBytes')
})
