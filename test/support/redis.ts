/** A real Redis server for tests, on a socket of its own, and a client that knows only what stores use. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { RedisClient } from '../../src/ladder/index.ts'
import { dieWithUs } from './guard.ts'
import { programPath } from './programs.ts'

/** Where it is on this machine, if it is. */
export const redisServer = programPath('redis-server')

export type Redis = { connect(): Promise<RedisClient & { end(): void }>; restart(): Promise<void>; stop(): Promise<void> }

/** It writes everything to its disk before it answers. */
export const startRedis = async (): Promise<Redis> => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-redis-'))
  const socket = join(folder, 'redis.sock')
  let child: ChildProcess | undefined
  const begin = async (): Promise<void> => {
    const settings = ['--port', '0', '--unixsocket', socket, '--dir', folder, '--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
    child = spawn(redisServer ?? 'redis-server', settings, { stdio: 'ignore' })
    if (child.pid !== undefined) child.once('exit', dieWithUs(child.pid, folder))
    for (let attempt = 0; attempt < 500; attempt++) {
      const ready = await connected(socket).catch(() => undefined)
      if (ready) return ready.end()
      await pause(10)
    }
    throw new Error('redis-server does not listen')
  }
  const end = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  await begin()
  return {
    connect: () => connected(socket),
    async restart() {
      await end()
      await begin()
    },
    async stop() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const connected = async (path: string): Promise<RedisClient & { end(): void }> => {
  const socket = createConnection(path)
  await once(socket, 'connect')
  const ask = asking(socket)
  await ask(['PING'])
  return {
    eval: (script, { keys, arguments: given }) => ask(['EVAL', script, String(keys.length), ...keys, ...given]),
    end: () => socket.destroy(),
  }
}

/** Questions and answers in the protocol of Redis, version 2, in their order. */
const asking = (socket: Socket): ((words: readonly string[]) => Promise<unknown>) => {
  const waiting: { resolve: (value: unknown) => void; reject: (error: Error) => void }[] = []
  let bytes = Buffer.alloc(0)
  socket.on('error', () => undefined)
  socket.on('close', () => {
    for (const { reject } of waiting.splice(0)) reject(new Error('the connection is closed'))
  })
  socket.on('data', (data) => {
    bytes = Buffer.concat([bytes, Buffer.from(data)])
    for (let answer = answerIn(bytes, 0); answer; answer = answerIn(bytes, 0)) {
      bytes = bytes.subarray(answer.end)
      const { value } = answer
      const first = waiting.shift()
      if (value instanceof Error) first?.reject(value)
      else first?.resolve(value)
    }
  })
  return (words) =>
    new Promise((resolve, reject) => {
      if (socket.destroyed) return reject(new Error('the connection is closed'))
      waiting.push({ resolve, reject })
      socket.write(`*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`)
    })
}

/** The first answer, unless it is not whole yet. */
const answerIn = (bytes: Buffer, from: number): { value: unknown; end: number } | undefined => {
  const line = bytes.indexOf('\r\n', from)
  if (line < 0) return undefined
  const rest = bytes.toString('utf8', from + 1, line)
  const end = line + 2
  switch (String.fromCharCode(bytes[from] ?? 0)) {
    case ':':
      return { value: Number(rest), end }
    case '-':
      return { value: new Error(rest), end }
    case '$': {
      const size = Number(rest)
      if (size < 0) return { value: null, end }
      return bytes.length < end + size + 2 ? undefined : { value: bytes.toString('utf8', end, end + size), end: end + size + 2 }
    }
    case '*': {
      const values: unknown[] = []
      let at = end
      for (let index = 0; index < Number(rest); index++) {
        const one = answerIn(bytes, at)
        if (!one) return undefined
        values.push(one.value)
        at = one.end
      }
      return { value: values, end: at }
    }
    default:
      return { value: rest, end }
  }
}
