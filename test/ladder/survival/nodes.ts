/** Nodes in processes of their own, as a test sees them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { dieWithUs } from '../../support/guard.ts'
import type { Order, Word } from './node.ts'

const binary = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url))
const program = fileURLToPath(new URL('./node.ts', import.meta.url))

export type LiveNode = {
  readonly pid: number
  tell(order: Order): void
  /** Resolves with its next word of a kind, whoever asked for it. @throws Error with its last lines, when it ends instead */
  hear<Said extends Word['said']>(said: Said): Promise<Extract<Word, { said: Said }>>
  /** Calls back for each commit that it writes. */
  onCommit: () => void
  kill(): Promise<void>
}

/** @param deeds a file that it writes its deeds to */
export const aLiveNode = (deeds: string): LiveNode => {
  const child = spawn(binary, [program, deeds], { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, STATECAST_LOG: 'error' } })
  if (child.pid === undefined) throw new Error('no process could be started')
  child.once('exit', dieWithUs(child.pid))
  child.stdin.on('error', () => undefined)
  let lastWords = ''
  child.stderr.on('data', (data) => {
    lastWords = `${lastWords}${data}`.slice(-4_000)
  })
  const heard: Word[] = []
  const listeners = new Set<() => void>()
  const node: LiveNode = {
    pid: child.pid,
    tell: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`),
    hear: <Said extends Word['said']>(said: Said) =>
      new Promise<Extract<Word, { said: Said }>>((resolve, reject) => {
        const look = (): void => {
          const place = heard.findIndex((word) => word.said === said)
          if (place >= 0) resolve(heard.splice(place, 1)[0] as Extract<Word, { said: Said }>)
          else if (child.exitCode === null && child.signalCode === null) return
          else reject(new Error(`a node ended before it had said '${said}': ${lastWords}`))
          listeners.delete(look)
        }
        listeners.add(look)
        look()
      }),
    onCommit: () => undefined,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
  const lookAll = (): void => {
    for (const look of listeners) look()
  }
  createInterface({ input: child.stdout }).on('line', (line) => {
    const word = JSON.parse(line) as Word
    if (word.said === 'committing') return node.onCommit()
    heard.push(word)
    lookAll()
  })
  child.once('exit', lookAll)
  return node
}
