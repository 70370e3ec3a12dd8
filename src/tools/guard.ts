/**
 * A shell beside the node that ends what the node started, once the node is gone: its input ends with this process, however that ends. It starts with the
 * first program.
 */
import { type ChildProcess, spawn } from 'node:child_process'

/**
 * What is to be ended: a process group, one of a server that may still finish its work, a cgroup with its folder, processes that carry a mark in their
 * environment, a container.
 */
type Guarded =
  | { kind: 'group' | 'server'; target: number }
  | { kind: 'cgroup'; target: string }
  | { kind: 'mark'; target: string }
  | { kind: 'container'; target: string; program: string }

const script = `trap '' HUP INT TERM
cd /
while read -r verb id kind target; do
  case $verb in
    add) set -- "$@" "$id $kind $target" ;;
    remove) for one do shift; [ "\${one%% *}" = "$id" ] || set -- "$@" "$one"; done ;;
  esac
done
for round in 1 2 3 4 5 6 7 8 9 10; do
  # All stop before one ends: each that ended would make room for another.
  if [ "$round" -le 5 ]; then signal=STOP; else signal=KILL; fi
  for one do
    rest=\${one#* }
    target=\${rest#* }
    case \${rest%% *} in
      group) kill -s KILL -- "-$target" ;;
      server)
        case $round in 1) kill -s TERM -- "-$target" ;; 10) kill -s KILL -- "-$target" ;; esac ;;
      cgroup)
        [ -d "$target" ] || continue
        [ -f "$target/pids.max" ] && echo 0 > "$target/pids.max"
        while read -r pid; do kill -s KILL "$pid"; done < "$target/cgroup.procs"
        rmdir "$target" ;;
      mark)
        for file in $(grep -lsa -- "STATECAST_COMMAND=$target" /proc/[0-9]*/environ); do
          pid=\${file#/proc/}
          kill -s "$signal" "\${pid%/environ}"
        done ;;
      container) [ "$round" = 1 ] && "\${target%% *}" kill "\${target#* }" ;;
    esac
  done
  [ $# = 0 ] || sleep 0.1
done`

const lineOf = (guarded: Guarded): string =>
  guarded.kind === 'container' ? `container ${guarded.program} ${guarded.target}` : `${guarded.kind} ${guarded.target}`

const entries = new Map<number, string>()
let guard: ChildProcess | undefined
let count = 0

const send = (line: string): void => void guard?.stdin?.write(`${line}\n`)

const start = (): void => {
  if (guard !== undefined || process.platform === 'win32') return
  const { PATH = '/usr/local/bin:/usr/bin:/bin', HOME = '/', XDG_RUNTIME_DIR, DOCKER_HOST, DOCKER_CONTEXT, CONTAINER_HOST } = process.env
  const env = { PATH, HOME, XDG_RUNTIME_DIR, DOCKER_HOST, DOCKER_CONTEXT, CONTAINER_HOST }
  const child = spawn('/bin/sh', ['-c', script, 'statecast-guard'], { env, stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  guard = child
  // One that was killed starts again with the next command, and takes over what still runs.
  const forget = (): void => {
    if (guard === child) guard = undefined
  }
  child.once('error', forget)
  child.once('exit', forget)
  child.stdin?.on('error', forget)
  child.unref()
  ;(child.stdin as unknown as { unref(): void }).unref()
  for (const [id, line] of entries) send(`add ${id} ${line}`)
}

/** Ends it when this process is gone. @returns to call when it has ended by itself */
export const guardUntilEnd = (guarded: Guarded): (() => void) => {
  start()
  const id = count++
  const line = lineOf(guarded)
  entries.set(id, line)
  send(`add ${id} ${line}`)
  return () => {
    if (entries.delete(id)) send(`remove ${id}`)
  }
}
