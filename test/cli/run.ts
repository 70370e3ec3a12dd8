/**
 * Runs the command line in the process of the test, each command with its own streams, variables, working directory and signals. What needs a process of
 * its own is in `processes.ts`.
 */
import { EventEmitter } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { main } from '../../src/cli/main.ts'
import { type Ended, endsWithTest, type How, type Node, nodeOf, Printed, type Running } from './folders.ts'

export { aFolder, changedApp, type Node, rpc, stopNode, tell, testApp, untilFile } from './folders.ts'

const into = (printed: Printed, stream: 'stdout' | 'stderr'): Writable =>
  new Writable({
    write: (chunk: Buffer, _, done) => {
      printed.add(stream, chunk.toString())
      done()
    },
  })

export const start = ({ folder, input = '', env = {}, keepStdinOpen = false }: How, ...args: string[]): Running => {
  const printed = new Printed()
  const stdin = new PassThrough()
  if (!keepStdinOpen) stdin.end(input)
  const signals = new EventEmitter()
  const ended = main(
    args,
    { stdin, stdout: into(printed, 'stdout'), stderr: into(printed, 'stderr') },
    Object.assign(signals, { env, cwd: () => folder }),
  ).then((code) => printed.ended(code))
  const signal = (name: 'SIGINT' | 'SIGTERM'): void => void signals.emit(name)
  // A second signal ends a node at once.
  endsWithTest(ended, async () => {
    signal('SIGINT')
    if (args.includes('up')) signal('SIGINT')
    await ended
  })
  return {
    stdin,
    signal,
    ended,
    firstLine: unwatched(printed.until((text) => (text.includes('\n') ? text.slice(0, text.indexOf('\n')) : undefined), ended)),
    prints: (part) => printed.until((text) => (text.includes(part) ? part : undefined), ended).then(() => undefined),
  }
}

/** A wait that its test has given up rejects nothing. */
const unwatched = <Value>(promise: Promise<Value>): Promise<Value> => {
  promise.catch(() => undefined)
  return promise
}

export const statecast = (how: How, ...args: string[]): Promise<Ended> => start(how, ...args).ended

export const aNode = (how: How, ...args: string[]): Promise<Node> => nodeOf(start(how, 'up', '--port', '0', '--json', ...args))
