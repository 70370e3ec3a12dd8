/** Clients that ask for more than they read: a node with a small heap goes on serving others. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import WebSocket from 'ws'
import { repository } from '../../tidy/sources.ts'
import { token } from '../gateway-on.ts'

let node: ChildProcess
let port: number
const sockets: (Socket | WebSocket)[] = []

beforeAll(async () => {
  const program = join(repository, 'test/api/http/flood/node.ts')
  node = spawn(process.execPath, ['--max-old-space-size=160', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  port = await new Promise((resolve, reject) => {
    node.stdout?.once('data', (data: Buffer) => resolve(Number(data.toString())))
    node.once('exit', (code) => reject(new Error(`the node ended with ${code}`)))
  })
}, 240_000)

afterAll(() => {
  for (const socket of sockets)
    if (socket instanceof WebSocket) socket.terminate()
    else socket.destroy()
  node.kill('SIGKILL')
})

const ask = JSON.stringify({ sessionKey: 'main', maxChars: 500_000, limit: 1000 })
const asked = (): string =>
  `POST /rpc/chat.history HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${ask.length}\r\n\r\n${ask}`

/** MiB that the node has taken up at most; what waits to be sent is in no heap. Only Linux says so. */
const peak = (): number => {
  const file = `/proc/${node.pid}/status`
  const [, kilobytes = '0'] = (existsSync(file) && /VmHWM:\s+(\d+)/.exec(readFileSync(file, 'utf8'))) || []
  return Number(kilobytes) / 1024
}

/** Another client, who is served meanwhile: perhaps it has to ask again. */
const isServed = async (): Promise<number> => {
  for (;;) {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`http://127.0.0.1:${port}/rpc/chat.history`, { method: 'POST', headers, body: '{"sessionKey":"small"}' })
    const body = await answer.text()
    if (answer.status === 200) return JSON.parse(body).messages.length
    expect(JSON.parse(body).error).toMatchObject({ code: 'overloaded', retryable: true })
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

test('[CH-73] one connection that pipelines a thousand histories and reads none costs the others nothing', async () => {
  const socket = connect(port, '127.0.0.1').pause()
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.write(asked().repeat(1000))

  expect(await isServed()).toBe(2)
  expect(node.exitCode).toBeNull()
  expect(peak()).toBeLessThan(700)
}, 240_000)

test('[CH-06] a hundred sockets that ask for all of a conversation and read nothing make room for who does', async () => {
  for (let index = 0; index < 100; index++) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`)
    sockets.push(socket)
    socket.on('error', () => undefined)
    await new Promise((resolve) => socket.once('open', resolve))
    const auth = { minProtocol: 1, maxProtocol: 1, client: { name: 'test' }, auth: { token } }
    socket.send(JSON.stringify({ type: 'req', id: '1', method: 'connect', params: auth }))
    for (let count = 0; count < 4; count++)
      socket.send(JSON.stringify({ type: 'req', id: `h${count}`, method: 'chat.history', params: JSON.parse(ask) }))
    socket.pause()
  }

  expect(await isServed()).toBe(2)
  expect(node.exitCode).toBeNull()
  expect(peak()).toBeLessThan(700)
}, 240_000)
