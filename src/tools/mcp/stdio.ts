/** The wire to an MCP server that is a program: one line of JSON for each message, on its standard input and output. */
import { RuntimeError } from '../../contracts/errors.ts'
import { redact } from '../../contracts/redact.ts'
import { LineReader } from './line-reader.ts'
import { type ProcessGroup, type ProgramOptions, startGroup } from './process-group.ts'
import type { RpcMessage, Wire } from './wire.ts'

/** `pid` and `stderr` are how the SDK knows a wire of this kind, on which silence after its first question means an old server. */
export type StdioWire = Wire & {
  readonly pid: number | null
  readonly stderr: null /** Why it has ended, as far as that is known. */
  why(): RuntimeError
}

/** Characters of its standard error that are kept for the message of an error. */
const saidMax = 500
/** Bytes that may wait to be read by a program that does not read. */
const waitingMax = 16 * 1024 * 1024

type StdioListener = {
  server: string /** What it prints beside the protocol, redacted. */
  noise(where: 'stdout' | 'stderr', text: string): void
}

export const stdioWire = (program: ProgramOptions, { server, noise }: StdioListener): StdioWire => {
  let group: ProcessGroup | undefined
  let said = ''
  let reason: RuntimeError | undefined
  let how: string | undefined
  const data = { server }
  const ended = (why: RuntimeError): void => {
    reason ??= why
  }

  const wire: StdioWire = {
    stderr: null,
    get pid() {
      return group?.child.pid ?? null
    },
    // What it said last may be read after it has ended, so that is asked for as late as can be.
    why: () =>
      reason ??
      (how === undefined
        ? new RuntimeError('log_unavailable', `the MCP server '${server}' has ended`, { retryable: true, data })
        : gone(server, how, said)),
    start: () =>
      new Promise((resolve, reject) => {
        group = startGroup(program)
        const { child } = group
        const reader = new LineReader({
          message: (message) => wire.onmessage?.(message),
          garbage: (line) => noise('stdout', redact(line)),
          endless: () => {
            ended(
              new RuntimeError('too_large', `the MCP server '${server}' writes a line without an end`, {
                retryable: true,
                hint: 'a server writes one line of JSON for each message, and its log to standard error',
                data,
              }),
            )
            void wire.close()
          },
        })
        child.once('spawn', resolve)
        child.once('error', (cause: NodeJS.ErrnoException) => {
          ended(notStarted(server, program, cause))
          reject(wire.why())
          wire.onclose?.()
        })
        child.once('exit', (code, signal) => {
          how = signal ?? `code ${code}`
        })
        // After the last of what it said has been read.
        child.once('close', () => wire.onclose?.())
        child.stdout.on('data', (chunk: Buffer) => reader.read(chunk))
        child.stderr.on('data', (chunk: Buffer) => {
          const text = redact(chunk.subarray(-8 * saidMax).toString())
          said = `${said}${text}`.slice(-saidMax)
          noise('stderr', text.slice(-saidMax))
        })
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => undefined)
      }),
    send: (message: RpcMessage) =>
      new Promise((resolve, reject) => {
        const stdin = group?.child.stdin
        if (stdin === undefined || !stdin.writable) return reject(wire.why())
        if (stdin.writableLength > waitingMax)
          return reject(
            new RuntimeError('overloaded', `the MCP server '${server}' does not read what it is asked`, {
              retryable: true,
              hint: 'see whether it hangs',
              data,
            }),
          )
        stdin.write(`${JSON.stringify(message)}\n`, () => undefined)
        resolve()
      }),
    close: async () => {
      await group?.end()
    },
  }
  return wire
}

const notStarted = (server: string, { command, cwd }: ProgramOptions, cause: NodeJS.ErrnoException): RuntimeError =>
  new RuntimeError('not_found', `the MCP server '${server}' cannot be started: ${cause.code ?? cause.message}, ${command.slice(0, 200)}`, {
    cause,
    field: `mcp.servers.${server}.command`,
    hint: `install it, or give the whole path of the program${cwd === undefined ? '' : `; is ${cwd.slice(0, 200)} a folder?`}`,
    data: { server },
  })

const gone = (server: string, how: string, said: string): RuntimeError =>
  new RuntimeError('log_unavailable', `the MCP server '${server}' has ended with ${how}${said.trim() === '' ? '' : `; it said: ${said.trim()}`}`, {
    retryable: true,
    hint: 'start its command by hand to see what it lacks: it is given PATH, HOME, LANG and what env names, and nothing else',
    data: { server },
  })
