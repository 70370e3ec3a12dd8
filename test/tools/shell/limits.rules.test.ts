import { expect, test } from 'vitest'
import { hierarchiesOf } from '../../../src/tools/shell/cgroup.rules.ts'
import { notBecome, programText } from '../../../src/tools/shell/launcher.rules.ts'
import { commandLimits, enforcedLimits, limitError, limitOfEnd, limitText, type Machine } from '../../../src/tools/shell/limits.rules.ts'

const server: Machine = {
  platform: 'linux',
  isRoot: true,
  cgroups: 2,
  controllers: ['pids', 'memory'],
  hasShell: true,
  hasProc: true,
  hasTmpSize: true,
}
const laptop: Machine = { ...server, isRoot: false, controllers: [] }
const mac: Machine = { ...laptop, platform: 'darwin', cgroups: undefined, hasProc: false, hasTmpSize: false }
const windows: Machine = { ...mac, platform: 'win32', hasShell: false }

const enforcement = (kind: 'off' | 'bwrap' | 'docker' | 'podman', machine: Machine) =>
  Object.fromEntries(enforcedLimits(kind, machine, commandLimits()).map((row) => [row.limit, row.enforcement]))
const always = { timeoutMs: 'watched', workspaceBytes: 'watched', freeBytes: 'watched' }

test.each([
  ['bwrap', 'with cgroups', server, ['kernel', 'kernel', 'watched', 'kernel', 'kernel']],
  ['bwrap', 'with cgroups of version 1', { ...server, cgroups: 1 }, ['kernel', 'kernel', 'watched', 'kernel', 'kernel']],
  ['bwrap', 'of a user without cgroups', laptop, ['watched', 'watched', 'watched', 'kernel', 'kernel']],
  ['bwrap', 'whose bubblewrap is old', { ...server, hasTmpSize: false }, ['kernel', 'kernel', 'watched', 'kernel', 'kernel']],
  ['bwrap', 'with neither', { ...laptop, hasTmpSize: false }, ['watched', 'watched', 'watched', 'kernel', 'none']],
  ['off', 'with cgroups', server, ['kernel', 'kernel', 'watched', 'kernel', 'watched']],
  ['off', 'where only memory has a controller', { ...server, controllers: ['memory'] }, ['watched', 'kernel', 'watched', 'kernel', 'watched']],
  ['off', 'whose root has no cgroups', { ...laptop, isRoot: true }, ['watched', 'watched', 'watched', 'kernel', 'watched']],
  ['off', 'with macOS', mac, ['none', 'none', 'kernel', 'kernel', 'watched']],
  ['off', 'with Windows', windows, ['none', 'none', 'none', 'none', 'watched']],
  ['docker', 'of a user', laptop, ['kernel', 'kernel', 'kernel', 'kernel', 'kernel']],
  ['podman', 'of a user, with cgroup v2', laptop, ['kernel', 'kernel', 'kernel', 'kernel', 'kernel']],
  ['podman', 'of a user, with cgroup v1', { ...laptop, cgroups: 1 }, ['none', 'none', 'kernel', 'kernel', 'kernel']],
] as const)(
  '[CH-98] %s on a machine %s has its mechanism for each limit',
  (kind, _, machine, [processes, memoryBytes, cpuMs, fileBytes, tmpBytes]) => {
    expect(enforcement(kind, machine as Machine)).toEqual({ processes, memoryBytes, cpuMs, fileBytes, tmpBytes, ...always })
  },
)

test('names RLIMIT_NPROC for a user, and not for root, on whom it has no effect', () => {
  const by = (machine: Machine) => enforcedLimits('off', machine, commandLimits()).find(({ limit }) => limit === 'processes')?.by

  expect(by(laptop)).toBe('samples of /proc, RLIMIT_NPROC')
  expect(by({ ...laptop, isRoot: true })).toBe('samples of /proc')
})

test('an agent overrides the configuration, which overrides the defaults', () => {
  const limits = commandLimits(5_000, { processes: 10, fileBytes: 1_000_000 }, { processes: 20 })

  expect(limits).toMatchObject({ timeoutMs: 5_000, processes: 20, fileBytes: 1_000_000, memoryBytes: 1024 ** 3 })
})

const failed = (exitCode: number | null, stderr = '', killedBy?: string) => ({ exitCode, stderr, ...(killedBy && { killedBy }) })
test.each([
  ['a file that is too large, by signal', failed(null, '', 'SIGXFSZ'), 'off', server, 'fileBytes'],
  ['a file that is too large, by exit code of a shell', failed(153), 'bwrap', server, 'fileBytes'],
  ['a file that is too large, by words of a program', failed(1, 'OSError: [Errno 27] File too large'), 'off', server, 'fileBytes'],
  ['too much CPU time', failed(null, '', 'SIGXCPU'), 'off', server, 'cpuMs'],
  ['a full temporary folder', failed(1, 'head: error writing: No space left on device'), 'bwrap', server, 'tmpBytes'],
  ['a full disk of the machine', failed(1, 'head: error writing: No space left on device'), 'off', server, undefined],
  ['a container out of memory', failed(137), 'docker', server, 'memoryBytes'],
  ['a killed program outside of containers', failed(137), 'off', server, undefined],
  ['an allocation refused by RLIMIT_DATA', failed(1, 'MemoryError'), 'off', laptop, 'memoryBytes'],
  ['an allocation refused under a cgroup', failed(1, 'MemoryError'), 'off', server, undefined],
  ['a fork refused by RLIMIT_NPROC', failed(2, 'sh: 0: Cannot fork'), 'off', laptop, 'processes'],
  ['a program that succeeded', failed(0, 'File too large'), 'off', server, undefined],
  ['a program that failed', failed(1, 'no such file'), 'off', server, undefined],
] as const)('%s is read from the end of a program', (_, ended, kind, machine, limit) => {
  expect(limitOfEnd(ended, kind, machine)).toBe(limit)
})

test('the error names the limit, its value and what to do, with the end of the output', () => {
  const error = limitError('memoryBytes', commandLimits(undefined, { memoryBytes: 1536 * 1024 ** 2 }), {
    stdout: `${'x'.repeat(5000)}last`,
    stderr: 'e',
  })

  expect(error).toMatchObject({
    code: 'sandbox_limit',
    message: 'the command was stopped at a limit of its sandbox: 1.5 GiB of memory',
    hint: 'work on less data at once; an operator can raise `sandbox.limits.memoryBytes` of the agent',
    data: { limit: 'memoryBytes', value: 1536 * 1024 ** 2, stdout: expect.stringMatching(/^x{1996}last$/), stderr: 'e' },
  })
  expect([limitText('processes', 512), limitText('fileBytes', 0), limitText('cpuMs', 1000)]).toEqual(['512', '0 bytes', '1000 ms'])
})

const mountsOf = (...lines: string[]) => lines.map((line, id) => `${id} 1 0:30 ${line}`).join('\n')
test.each([
  [
    'version 2',
    '0::/user.slice/app.scope\n',
    mountsOf('/ /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate'),
    [{ version: 2, controllers: [], folder: '/sys/fs/cgroup/user.slice/app.scope' }],
  ],
  [
    'version 1, beside an empty version 2',
    '8:pids:/\n4:memory:/a job\n1:cpu,cpuacct:/\n0::/\n',
    mountsOf(
      '/ /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids',
      '/ /sys/fs/cgroup/my\\040memory rw - cgroup cgroup rw,memory',
      '/ /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
    ),
    [
      { version: 1, controllers: ['pids'], folder: '/sys/fs/cgroup/pids' },
      { version: 1, controllers: ['memory'], folder: '/sys/fs/cgroup/my memory/a job' },
      { version: 2, controllers: [], folder: '/sys/fs/cgroup/unified' },
    ],
  ],
  [
    'a container that has its part of version 1 mounted',
    '4:memory:/docker/7/inner\n',
    mountsOf('/docker/7 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory'),
    [{ version: 1, controllers: ['memory'], folder: '/sys/fs/cgroup/memory/inner' }],
  ],
  ['a machine without any', '', mountsOf('/ / rw - ext4 /dev/vda rw'), []],
])('finds the cgroups of %s', (_, membership, mountinfo, hierarchies) => {
  expect(hierarchiesOf(membership, mountinfo)).toEqual(hierarchies)
})

test('the text for a shell quotes all that comes from outside', () => {
  const text = programText({
    file: 'printf',
    args: ["it's", '$(id)', 'a\nb'],
    env: { KEY: "'; id; '", 'no-name': 'x' },
    cwd: "/tmp/it's",
    limits: { fileBytes: 4096, memoryBytes: 2048, cpuMs: 1500, boundsMemory: true, tasks: 9 },
  })

  expect(text.split('\n')).toEqual([
    '{ ulimit -c 0; } 2>/dev/null',
    '{ ulimit -f 8; } 2>/dev/null',
    '{ ulimit -d 2; } 2>/dev/null',
    '{ ulimit -S -t 2; } 2>/dev/null',
    '{ ulimit -H -t 3; } 2>/dev/null',
    '{ ulimit -u 9 || ulimit -p 9; } 2>/dev/null',
    "cd '/tmp/it'\\''s' || exit 125",
    'unset PWD OLDPWD SHLVL',
    "export KEY=''\\''; id; '\\'''",
    "exec 'printf' 'it'\\''s' '$(id)' 'a",
    "b' </dev/null 3<&-",
    '',
  ])
})

test('a shell that could not become the program is told from a program with the same exit code', () => {
  expect(notBecome(127, 'sh: 9: exec: touch: not found\n')).toBe('9: exec: touch: not found')
  expect(notBecome(126, '/bin/sh: line 9: exec: big: Argument list too long')).toContain('Argument list too long')
  expect(notBecome(127, 'make: cc: not found')).toBeUndefined()
  expect(notBecome(1, 'sh: 9: exec: touch: not found')).toBeUndefined()
})
