/** The command lines that put a program into a sandbox: what it sees of the machine, and what it may do. */
import type { SandboxOptions } from '../../contracts/bench.ts'
import type { CommandLimits } from './limits.rules.ts'

/** `env` is that of the sandbox's own program, from which those in it have what is no business of a command line: anybody on the machine can read that. */
/** @property filter what its file descriptor {@link filterDescriptor} gives to read */
export type Invocation = { file: string; args: string[]; env: Record<string, string>; filter?: Uint8Array | undefined }

export const filterDescriptor = 3

export type Inside = Pick<SandboxOptions, 'access' | 'network' | 'image' | 'readable'> & {
  /** Real path of the workspace, and of the folder in it where the command begins, relative to it with `/`. */
  workspace: string
  folder: string
  /** Names in the workspace that commands must not see: our journals, and keys. */
  masked: { name: string; isFolder: boolean }[]
  env: Record<string, string>
  /** Folders outside of the workspace that are on its PATH, and not on that of the host. */
  programs: readonly string[]
  user: { uid: number; gid: number } | undefined
  limits: CommandLimits
  /** Whether bubblewrap can bound a temporary folder. */
  hasTmpSize: boolean
  /** Filter of system calls in bubblewrap. */
  filter: Uint8Array | undefined
  command: string
  args: readonly string[]
}

export const defaultImage = 'debian:stable-slim'
/** Where containers have the workspace. */
const mount = '/workspace'
/** Where the programs of an image are, as good as always. */
const imagePath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
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
/** What the sandbox's own program would obey is said by value: it does not have to be secret. */
const isByValue = (name: string): boolean => /^(?:PATH|HOME|LANG|LD_.*|XDG_.*|DOCKER_.*|CONTAINER_.*)$/.test(name)
const variablesOf = (env: Record<string, string>) => {
  const all = Object.entries(env)
  return { byValue: all.filter(([name]) => isByValue(name)), inherited: Object.fromEntries(all.filter(([name]) => !isByValue(name))) }
}

export const bwrap = ({
  access = 'rw',
  network = false,
  readable = [],
  workspace,
  folder,
  masked,
  env,
  programs,
  limits,
  hasTmpSize,
  filter,
  command,
  args,
}: Inside): Invocation => {
  const { byValue, inherited } = variablesOf({ ...env, HOME: home })
  const memory = (path: string): string[] => [...(hasTmpSize ? ['--size', String(limits.tmpBytes)] : []), '--tmpfs', path]
  // An empty folder that takes nothing.
  const hidden = (path: string): string[] => ['--tmpfs', path, '--remount-ro', path]
  return {
    file: 'bwrap',
    env: inherited,
    filter,
    args: [
      ...(filter === undefined ? [] : ['--seccomp', String(filterDescriptor)]),
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
      ...memory('/dev/shm'),
      '--remount-ro',
      '/dev',
      ...memory('/tmp'),
      ...[...systemFolders, ...systemFiles, ...(network ? networkFiles : []), ...readable, ...programs].flatMap((path) => [
        '--ro-bind-try',
        path,
        path,
      ]),
      ...(access === 'none' ? [] : [access === 'ro' ? '--ro-bind' : '--bind', workspace, workspace]),
      ...(access === 'none'
        ? []
        : masked.flatMap(({ name, isFolder }) => (isFolder ? hidden(`${workspace}/${name}`) : ['--ro-bind', '/dev/null', `${workspace}/${name}`]))),
      // All that is memory of the machine and has no size.
      '--remount-ro',
      '/',
      '--chdir',
      access === 'none' ? home : `${workspace}/${folder}`,
      ...byValue.flatMap(([name, value]) => ['--setenv', name, value]),
      '--',
      command,
      ...args,
    ],
  }
}

/** podman takes the words of docker. An image is never fetched: that would be a download that nobody asked for. */
export const container = (kind: 'docker' | 'podman', name: string, inside: Inside): Invocation => {
  const {
    access = 'rw',
    network = false,
    image = defaultImage,
    readable = [],
    workspace,
    folder,
    masked,
    env,
    programs,
    user,
    command,
    args,
  } = inside
  const { processes, memoryBytes, cpuMs, fileBytes, tmpBytes } = inside.limits
  // That of the host means nothing in an image.
  const PATH = programs.length > 0 ? { PATH: [...programs, imagePath].join(':') } : {}
  const { PATH: _, ...others } = env
  const { byValue, inherited } = variablesOf({ ...others, ...PATH, HOME: home })
  return {
    file: kind,
    env: inherited,
    args: [
      'run',
      '--rm',
      '--init',
      '--pull=never',
      `--name=${name}`,
      `--network=${network ? (kind === 'podman' ? 'slirp4netns' : 'bridge') : 'none'}`,
      '--cap-drop=ALL',
      '--security-opt=no-new-privileges',
      // Its init is one more.
      `--pids-limit=${processes + 1}`,
      `--memory=${memoryBytes}b`,
      `--memory-swap=${memoryBytes}b`,
      `--ulimit=fsize=${fileBytes}:${fileBytes}`,
      '--ulimit=core=0:0',
      ...(cpuMs === undefined ? [] : [`--ulimit=cpu=${Math.ceil(cpuMs / 1000)}:${Math.ceil(cpuMs / 1000) + 1}`]),
      `--shm-size=${tmpBytes}b`,
      '--read-only',
      `--tmpfs=/tmp:size=${tmpBytes}`,
      ...(user && kind === 'docker' ? [`--user=${user.uid}:${user.gid}`] : []),
      ...(kind === 'podman' ? ['--userns=keep-id'] : []),
      ...[...readable, ...programs].map((path) => bind(path, path, true)),
      ...(access === 'none'
        ? []
        : [
            bind(workspace, mount, access === 'ro'),
            ...masked.map(({ name: hidden, isFolder }) =>
              isFolder ? `--mount=type=tmpfs,target=${mount}/${hidden},tmpfs-size=65536` : bind('/dev/null', `${mount}/${hidden}`, true),
            ),
          ]),
      `--workdir=${access === 'none' ? home : `${mount}/${folder}`}`,
      ...byValue.flatMap(([variable, value]) => ['--env', `${variable}=${value}`]),
      ...Object.keys(inherited).flatMap((variable) => ['--env', variable]),
      // An entry point of the image would be given the command as its arguments.
      `--entrypoint=${command}`,
      image,
      ...args,
    ],
  }
}

// Paths with a comma or a quote would end the option; as a CSV field they do not.
const bind = (from: string, to: string, readOnly: boolean): string =>
  `--mount=${[`type=bind`, `source=${from}`, `target=${to}`, ...(readOnly ? ['readonly'] : [])].map(csvField).join(',')}`
const csvField = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
