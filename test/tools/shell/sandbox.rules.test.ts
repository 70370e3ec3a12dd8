import { expect, test } from 'vitest'
import { commandLimits } from '../../../src/tools/shell/limits.rules.ts'
import { bwrap, container, type Inside } from '../../../src/tools/shell/sandbox.rules.ts'

const inside: Inside = {
  workspace: '/srv/my, desk',
  folder: 'notes',
  masked: [
    { name: '.statecast', isFolder: true },
    { name: '.env', isFolder: false },
  ],
  env: { PATH: '/usr/bin', LANG: 'C', MODE: 'a=b' },
  programs: [],
  user: { uid: 1000, gid: 100 },
  command: 'git',
  args: ['log', '; rm -rf /'],
  limits: commandLimits(),
  hasTmpSize: true,
  filter: undefined,
}

test('a container has the workspace and nothing else, no network, no rights, and an image that is there', () => {
  const { file, args, env } = container('docker', 'c1', inside)

  expect(file).toBe('docker')
  expect(args).toEqual(
    expect.arrayContaining([
      '--pull=never',
      '--network=none',
      '--cap-drop=ALL',
      '--security-opt=no-new-privileges',
      '--read-only',
      '--user=1000:100',
      '--name=c1',
      '--mount=type=bind,"source=/srv/my, desk",target=/workspace',
      '--mount=type=tmpfs,target=/workspace/.statecast,tmpfs-size=65536',
      '--mount=type=bind,source=/dev/null,target=/workspace/.env,readonly',
      '--workdir=/workspace/notes',
      'LANG=C',
      'MODE',
      '--entrypoint=git',
    ]),
  )
  expect(env).toEqual({ MODE: 'a=b' })
  expect(args.slice(-3)).toEqual(['debian:stable-slim', 'log', '; rm -rf /'])
  expect(args.filter((arg) => arg.startsWith('PATH='))).toEqual([])
})

test('programs of an environment are in a container too, in front of those of the image', () => {
  const { args } = container('podman', 'c1', { ...inside, programs: ['/opt/bio/bin'] })

  expect(args).toContain('--mount=type=bind,source=/opt/bio/bin,target=/opt/bio/bin,readonly')
  expect(args).toContain('PATH=/opt/bio/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin')
})

test('read-only and no access hold for containers as well', () => {
  expect(container('podman', 'c1', { ...inside, access: 'ro' }).args).toContain('--mount=type=bind,"source=/srv/my, desk",target=/workspace,readonly')
  expect(container('podman', 'c1', { ...inside, access: 'none' }).args.join(' ')).not.toContain('desk')
  expect(bwrap({ ...inside, access: 'none' }).args.join(' ')).not.toContain('desk')
})

test('what comes after the options of bubblewrap is no option', () => {
  const { args } = bwrap({ ...inside, command: '--share-net' })

  expect(args.slice(args.indexOf('--'))).toEqual(['--', '--share-net', 'log', '; rm -rf /'])
})
