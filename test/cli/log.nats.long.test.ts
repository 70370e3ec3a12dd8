/** An operator who has nothing but the log of one node: what happened, to whom, and how it ended. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { partitionOf, rendezvous } from '../../src/contracts/placement.ts'
import { natsForAll } from '../support/nats.ts'
import { startOpenAiServer } from '../support/openai-server.ts'
import { aNodeProcess, type NodeProcess } from './processes.ts'
import { aFolder, aNode, statecast, stopNode, testApp } from './run.ts'

const server = natsForAll()

type Line = { level: number; msg: string; pid: number; hostname: string; node?: string; [field: string]: unknown }
const linesOf = (stderr: string): Line[] => stderr.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []))

type NamedNode = NodeProcess & { node: string }

/** Two nodes, the one that has a session first: partitions move when the second comes, so the session's has to have arrived. */
const twoNodes = async (folder: string, session: string) => {
  const url = ['--url', server.url]
  const first = (await aNodeProcess({ folder }, ...url, '--app', testApp)) as NamedNode
  const second = (await aNodeProcess({ folder: aFolder() }, ...url, '--app', testApp)) as NamedNode
  const partition = partitionOf({ kind: 'session', id: session })
  const holder = rendezvous(partition, [first.node, second.node])
  const rows = async () =>
    (await statecast({ folder }, 'nodes', ...url, '--json')).lines.map((line) => JSON.parse(line) as { id: string; holds: number[] })
  await expect.poll(async () => (await rows()).find(({ id }) => id === holder)?.holds).toContain(partition)
  return first.node === holder ? { own: first, other: second, url } : { own: second, other: first, url }
}

test('a node that is killed in the middle of a turn: the other one says who is gone, what it took over, and how the turn ended', async () => {
  const folder = aFolder()
  const { own, other, url } = await twoNodes(folder, 'main')
  const sent = statecast({ folder }, 'send', 'main', `wait ${join(folder, 'here')}`, ...url, '--json')
  await expect.poll(() => existsSync(join(folder, 'here.started'))).toBe(true)
  own.kill()
  writeFileSync(join(folder, 'here.go'), '')
  expect(await sent).toMatchObject({ code: 0 })
  await stopNode(other)

  const told = linesOf((await other.ended).stderr)
  const line = (message: string) => told.find(({ msg }) => msg.startsWith(message))
  expect(line('a node is gone without draining')).toMatchObject({ level: 40, peerPid: own.pid, nodes: 1 })
  expect(line('this host took over an actor')).toMatchObject({ actor: 'session/main', unfinished: 1 })
  expect(line('a turn ended')).toMatchObject({ actor: 'session/main', status: 'completed' })
  expect(told.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining([
      'the runtime started',
      'this node took over partitions',
      'draining: running turns may finish, no new work is taken',
      'the runtime closed',
    ]),
  )
  expect(new Set(told.map(({ pid }) => pid))).toEqual(new Set([other.pid]))
})

test('a turn that its provider refuses with 401 is a line at warn, with what to do', async () => {
  const refusing = await startOpenAiServer({ faults: Array.from({ length: 9 }, () => ({ kind: 'status', status: 401 }) as const) })
  const folder = aFolder()
  const node = await aNode({ folder, env: { OPENAI_BASE_URL: refusing.url, OPENAI_API_KEY: 'sk-very-secret-key', OPENAI_MODEL: 'small' } })

  await statecast({ folder }, 'send', 'main', 'hello')
  await stopNode(node)
  await refusing.close()

  const { stderr } = await node.ended
  expect(linesOf(stderr).find(({ msg }) => msg === 'a turn failed')).toMatchObject({
    level: 40,
    actor: 'session/main',
    error: { code: 'provider_auth', hint: expect.any(String) },
  })
  expect(stderr).not.toContain('sk-very-secret-key')
})
