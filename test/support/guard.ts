/** Processes that must not outlive this one, however it ends. */
import { type ChildProcess, spawn } from 'node:child_process'

// Its input ends with this process, also by SIGKILL; then it kills who is left. A shell is everywhere and starts in a millisecond.
const script = `
held=
while read -r sign pid folder; do
  case "$sign" in
    +) held="$held$pid $folder
" ;;
    -) held=$(printf %s "$held" | grep -v "^$pid ")
       [ -z "$held" ] || held="$held
" ;;
  esac
done
printf %s "$held" | while read -r pid folder; do
  kill -KILL "$pid"
  [ -z "$folder" ] || rm -rf -- "$folder"
done
`

let guard: ChildProcess | undefined

/**
 * @param folder removed then
 * @returns to be called when the process has ended, as its id may then become another's
 */
export const dieWithUs = (pid: number, folder = ''): (() => void) => {
  tell(`+ ${pid} ${folder}`)
  return () => tell(`- ${pid}`)
}

const tell = (line: string): void => {
  guard ??= startGuard()
  guard.stdin?.write(`${line}\n`)
}

const startGuard = (): ChildProcess => {
  // A group of its own: Ctrl-C in a terminal goes to the whole group, and the guard has work to do then.
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  child.unref()
  // A pipe is a socket to Node, and has an unref that its type does not show.
  ;(child.stdin as unknown as { unref(): void }).unref()
  // Only when somebody killed the guard; then there is none, and nothing better to do.
  child.stdin.on('error', () => undefined)
  return child
}
