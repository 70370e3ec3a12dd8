/** Programs beside a test: they end with it, however it ends. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { vi } from 'vitest'
import { dieWithUs } from './guard.ts'
import { needsProgram } from './programs.ts'

export type Program = AsyncDisposable & {
  readonly pid: number
  /** What it has written so far, both streams. */
  output(): string
  /** @param text waits until it has written that */
  said(text: string): Promise<void>
  kill(signal?: NodeJS.Signals): Promise<void>
}

export const startProgram = (command: string, ...args: string[]): Program => {
  if (!command.includes('/')) needsProgram(command)
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  child.on('error', () => undefined)
  if (child.pid === undefined) throw new Error(`${command} could not be started`)
  child.once('exit', dieWithUs(child.pid))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
  return {
    pid: child.pid,
    output: () => output,
    said: (text) =>
      vi.waitFor(
        () => {
          if (!output.includes(text)) throw new Error(`${command} has not said '${text}' but:\n${output}`)
        },
        { interval: 20 },
      ),
    kill,
    [Symbol.asyncDispose]: () => kill(),
  }
}
