/** Nodes as their operators run them: `statecast up` in processes of their own, each with its own way to the servers. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { dieWithUs } from '../support/guard.ts'
import { splitNats, startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import type { Harm } from './traces.ts'

const nodeBinary = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const bin = fileURLToPath(new URL('../../bin/statecast.js', import.meta.url))
const app = fileURLToPath(new URL('./app.ts', import.meta.url))
const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ANTHROPIC|OPENAI|STATECAST)_/.test(name)))
const startMs = 60_000

export type Slot = {
  readonly name: string
  readonly proxies: readonly TcpProxy[]
  readonly pid: number
  readonly running: boolean
  /** Resolves when it is up; again and again, if need be, since its server may be down. */
  start(): Promise<void>
  /** Resolves with the exit code when the process has gone. */
  signal(name: NodeJS.Signals): Promise<number | null>
  ended(): Promise<number | null>
  freeze(): () => void
  close(): Promise<void>
}

type SlotOptions = { name: string; folder: string; ports: readonly number[]; effects: string; harms: Harm[] }

export const aSlot = async ({ name, folder, ports, effects, harms }: SlotOptions): Promise<Slot> => {
  const home = join(folder, name)
  mkdirSync(home)
  const log = join(folder, `${name}.log`)
  const proxies = await Promise.all(ports.map((to) => startTcpProxy({ to, split: splitNats })))
  let child: ChildProcess | undefined
  let ended: Promise<number | null> = Promise.resolve(null)
  const write = (text: string | Buffer) => appendFileSync(log, text)

  const launch = async (): Promise<void> => {
    const url = `nats://${proxies.map(({ address }) => address).join(',')}`
    const started = spawn(nodeBinary, [bin, 'up', '--url', url, '--port', '0', '--json', '--app', app], {
      cwd: home,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...clean, CHAOS_EFFECTS: effects, STATECAST_LOG: 'info' },
    })
    const release = dieWithUs(started.pid ?? 0)
    started.once('exit', release)
    started.stderr.on('data', write)
    write(`---- ${name} is ${started.pid}, ${new Date().toISOString()}\n`)
    child = started
    ended = once(started, 'exit').then(([code, signal]) => {
      write(`---- ${started.pid} ended: ${code} ${signal}, ${new Date().toISOString()}\n`)
      return code as number | null
    })
    const lines = createInterface({ input: started.stdout })
    const ready = once(lines, 'line').then(() => true)
    if (!(await Promise.race([ready, ended.then(() => false)]))) throw new Error(`${name} ended before it was up, see ${log}`)
  }

  return {
    name,
    proxies,
    get pid() {
      return child?.pid ?? 0
    },
    get running() {
      return child !== undefined && child.exitCode === null && child.signalCode === null
    },
    async start() {
      for (const until = Date.now() + startMs; ; )
        try {
          return await launch()
        } catch (error) {
          if (Date.now() > until) throw error
        }
    },
    async signal(signal) {
      const at = Date.now()
      child?.kill(signal)
      const code = await ended
      harms.push({ what: signal, pid: child?.pid ?? 0, from: at, to: Date.now() })
      return code
    },
    ended: () => ended,
    freeze() {
      const [from, pid] = [Date.now(), child?.pid ?? 0]
      child?.kill('SIGSTOP')
      return () => {
        child?.kill('SIGCONT')
        harms.push({ what: 'freeze', pid, from, to: Date.now() })
      }
    },
    async close() {
      child?.kill('SIGKILL')
      await ended
      await Promise.all(proxies.map((proxy) => proxy.close()))
    },
  }
}
