/** Runs `bin/statecast.js` as a process, for what only a process shows: how it starts and exits, real signals, pipes, and kill -9. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { dieWithUs } from '../support/guard.ts'
import { repository } from '../tidy/sources.ts'
import { type Ended, endsWithTest, type How, type Node, nodeOf, Printed, type Running } from './folders.ts'

export const bin = join(repository, 'bin/statecast.js')

/** Without the keys and settings of the user who runs the tests. */
export const cleanEnvironment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ANTHROPIC|OPENAI|STATECAST)_/.test(name)))

export type Process = Running & {
  pid: number
  stdout: NodeJS.ReadableStream & { destroy(): unknown }
  /** @param name default: SIGKILL */
  kill(name?: NodeJS.Signals): void
}
export type NodeProcess = Process & Node

export const startProcess = ({ folder, input = '', env = {}, keepStdinOpen = false, program = bin }: How, ...args: string[]): Process => {
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, env: { ...cleanEnvironment, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
  if (child.pid !== undefined) child.once('exit', dieWithUs(child.pid))
  const printed = new Printed()
  for (const stream of ['stdout', 'stderr'] as const) child[stream].setEncoding('utf8').on('data', (text: string) => printed.add(stream, text))
  // A command may end before it has read everything.
  child.stdin.on('error', () => undefined)
  if (!keepStdinOpen) child.stdin.end(input)
  const ended = once(child, 'close').then(([code]): Ended => printed.ended(code as number | null))
  endsWithTest(ended, () => {
    child.kill('SIGKILL')
    return ended
  })
  const firstLine = printed.until((text) => (text.includes('\n') ? text.slice(0, text.indexOf('\n')) : undefined), ended)
  // A wait that its test has given up rejects nothing.
  for (const promise of [ended, firstLine]) promise.catch(() => undefined)
  return {
    pid: child.pid as number,
    stdin: child.stdin,
    stdout: child.stdout,
    signal: (name) => void child.kill(name),
    kill: (name = 'SIGKILL') => void child.kill(name),
    ended,
    firstLine,
    prints: (part) => printed.until((text) => (text.includes(part) ? part : undefined), ended).then(() => undefined),
  }
}

export const runProcess = (how: How, ...args: string[]): Promise<Ended> => startProcess(how, ...args).ended

export const aNodeProcess = (how: How, ...args: string[]): Promise<NodeProcess> => nodeOf(startProcess(how, 'up', '--port', '0', '--json', ...args))
