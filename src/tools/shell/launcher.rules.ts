/** The text for a shell that joins cgroups, lowers its resource limits, and becomes a program. */
import type { CommandLimits } from './limits.rules.ts'
import { filterDescriptor, type Invocation } from './sandbox.rules.ts'

/** One word to a shell, of any text without NUL. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Exit code of a shell that could not prepare a program. */
const notPrepared = 125

export const joinText = (folders: readonly string[]): string =>
  folders.map((folder) => `echo $$ > ${quoted(`${folder}/cgroup.procs`)} || exit ${notPrepared}\n`).join('')

/** @property memory whether each process is bounded, where nothing bounds them together @property tasks of the user at most; undefined: any number */
export type ResourceLimits = Pick<CommandLimits, 'fileBytes' | 'cpuMs' | 'memoryBytes'> & { boundsMemory: boolean; tasks: number | undefined }

const limitsText = ({ fileBytes, cpuMs, memoryBytes, boundsMemory, tasks }: ResourceLimits): string[] => {
  const seconds = cpuMs === undefined ? 0 : Math.ceil(cpuMs / 1000)
  return [
    // A core dump is a file too.
    'ulimit -c 0',
    `ulimit -f ${Math.max(1, Math.floor(fileBytes / 512))}`,
    ...(boundsMemory ? [`ulimit -d ${Math.ceil(memoryBytes / 1024)}`] : []),
    // Below its hard limit a process gets a signal that names the reason.
    ...(seconds > 0 ? [`ulimit -S -t ${seconds}`, `ulimit -H -t ${seconds + 1}`] : []),
    // Shells differ in the letter.
    ...(tasks === undefined ? [] : [`ulimit -u ${tasks} || ulimit -p ${tasks}`]),
  ].map((line) => `{ ${line}; } 2>/dev/null`)
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

type Program = Invocation & { cwd: string | undefined; limits: ResourceLimits }

/** Variables whose names no shell takes are left out. */
export const programText = ({ file, args, env, cwd, filter, limits }: Program): string =>
  [
    ...limitsText(limits),
    ...(cwd === undefined ? [] : [`cd ${quoted(cwd)} || exit ${notPrepared}`]),
    'unset PWD OLDPWD SHLVL',
    ...Object.entries(env).flatMap(([name, value]) => (variableName.test(name) ? [`export ${name}=${quoted(value)}`] : [])),
    `exec ${[file, ...args].map(quoted).join(' ')} </dev/null${filter === undefined ? ` ${filterDescriptor}<&-` : ''}`,
    '',
  ].join('\n')

/** Why a shell could not become a program. */
export const notBecome = (exitCode: number | null, stderr: string): string | undefined => {
  if (exitCode !== 126 && exitCode !== 127 && exitCode !== notPrepared) return undefined
  const [line = ''] = stderr.split('\n', 1)
  return /^\S*sh: (?:line )?\d+: (?:exec: |cd: |cannot create )/.test(line) ? line.slice(line.indexOf('sh: ') + 4, 300) : undefined
}
