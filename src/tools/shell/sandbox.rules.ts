/** The command lines that put a program into a sandbox: what it sees of the machine, and what it may do. */
import type { SandboxOptions, sandboxModes } from '../../contracts/bench.ts'

export type SandboxKind = Exclude<(typeof sandboxModes)[number], 'off' | 'auto'>

export type Invocation = { file: string; args: string[] }

export type Inside = Pick<SandboxOptions, 'access' | 'network' | 'image' | 'readable'> & {
  /** Real path of the workspace, and of the folder in it where the command begins, relative to it with `/`. */
  workspace: string
  folder: string
  /** Names in the workspace that commands must not see: our journals, and keys. */
  masked: { name: string; isFolder: boolean }[]
  env: Record<string, string>
  user: { uid: number; gid: number } | undefined
  command: string
  args: readonly string[]
}

export const defaultImage = 'debian:stable-slim'
/** Where containers have the workspace. */
const mount = '/workspace'
/** What programs need of the machine to run at all: nobody's home, and no key. */
const systemFolders = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/usr', '/opt']
const systemFiles = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/nsswitch.conf',
  '/etc/passwd',
  '/etc/group',
  '/etc/ssl',
  '/etc/ca-certificates',
  '/etc/pki',
]
const networkFiles = ['/etc/resolv.conf', '/etc/hosts']
const home = '/tmp'

export const bwrap = ({ access = 'rw', network = false, readable = [], workspace, folder, masked, env, command, args }: Inside): Invocation => ({
  file: 'bwrap',
  args: [
    '--unshare-all',
    ...(network ? ['--share-net'] : []),
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--tmpfs',
    '/tmp',
    ...[...systemFolders, ...systemFiles, ...(network ? networkFiles : []), ...readable].flatMap((path) => ['--ro-bind-try', path, path]),
    ...(access === 'none' ? [] : [access === 'ro' ? '--ro-bind' : '--bind', workspace, workspace]),
    ...(access === 'none'
      ? []
      : masked.flatMap(({ name, isFolder }) =>
          isFolder ? ['--tmpfs', `${workspace}/${name}`] : ['--ro-bind', '/dev/null', `${workspace}/${name}`],
        )),
    '--chdir',
    access === 'none' ? home : `${workspace}/${folder}`,
    '--clearenv',
    ...Object.entries({ ...env, HOME: home }).flatMap(([name, value]) => ['--setenv', name, value]),
    '--',
    command,
    ...args,
  ],
})

/** podman takes the words of docker. An image is never fetched: that would be a download that nobody asked for. */
export const container = (
  kind: 'docker' | 'podman',
  name: string,
  { access = 'rw', network = false, image = defaultImage, readable = [], workspace, folder, masked, env, user, command, args }: Inside,
): Invocation => ({
  file: kind,
  args: [
    'run',
    '--rm',
    '--init',
    '--pull=never',
    `--name=${name}`,
    `--network=${network ? (kind === 'podman' ? 'slirp4netns' : 'bridge') : 'none'}`,
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    '--pids-limit=512',
    '--read-only',
    '--tmpfs=/tmp',
    ...(user && kind === 'docker' ? [`--user=${user.uid}:${user.gid}`] : []),
    ...(kind === 'podman' ? ['--userns=keep-id'] : []),
    ...readable.map((path) => bind(path, path, true)),
    ...(access === 'none'
      ? []
      : [
          bind(workspace, mount, access === 'ro'),
          ...masked.map(({ name: hidden, isFolder }) =>
            isFolder ? `--mount=type=tmpfs,target=${mount}/${hidden}` : bind('/dev/null', `${mount}/${hidden}`, true),
          ),
        ]),
    `--workdir=${access === 'none' ? home : `${mount}/${folder}`}`,
    ...Object.entries({ ...env, HOME: home }).flatMap(([variable, value]) => (variable === 'PATH' ? [] : ['--env', `${variable}=${value}`])),
    // An entry point of the image would be given the command as its arguments.
    `--entrypoint=${command}`,
    image,
    ...args,
  ],
})

// Paths with a comma or a quote would end the option; as a CSV field they do not.
const bind = (from: string, to: string, readOnly: boolean): string =>
  `--mount=${[`type=bind`, `source=${from}`, `target=${to}`, ...(readOnly ? ['readonly'] : [])].map(csvField).join(',')}`
const csvField = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
