/**
 * How long is a turn without a node, when its node is killed in the middle of it? From the kill to the first word of the node that goes on. Nodes join
 * at random moments before the kill, so that some turns run on a node that no longer has their partition; all of them count.
 *
 *     BENCH_SEED=7 node bench/takeover.bench.ts      the same joins, waits and victims again
 */
import { setTimeout as pause } from 'node:timers/promises'
import { seededRandom } from '../src/testing/seeded.ts'
import { amount, goal, percentile, plainTable, quick, rounds, show, type Table } from './measure.ts'
import { type BenchClient, type BenchNode, killNode, openClient, startNode } from './nats/cluster.ts'
import { startServer } from './nats/server.ts'
import { withFolder } from './workload.ts'

const seed = Number(process.env.BENCH_SEED ?? 1)
const kills = rounds(200)
/** Clusters of their own on one server, at the same time: most of a round is waiting. */
const lanes = Math.min(4, kills)
const nodes = 3
const sessions = amount(12)
/** Who has not spoken by then counts as lost. */
const lostMs = 60_000
const slowestShown = 5

/** One turn that was under way on the node that was killed. */
type Case = { ms: number; told: string }

/** How a round goes; half a minute is long for somebody who asks again and again. */
type Plan = { join: boolean; waitMs: number; victim: number }
const planOf = (random: () => number): Plan => {
  const join = random() < 0.75
  const long = random() < 0.3
  return { join, waitMs: Math.round(random() * (quick ? 100 : long ? 35_000 : 5_000)), victim: random() }
}

/** Who says a word of which session, and when. */
const heard = (client: BenchClient, keys: readonly string[]) => {
  const words = new Map<string, { node: string; at: number }>()
  for (const key of keys)
    client.hear(key, ({ type }, node) => {
      if (type === 'delta' && words.get(key)?.node !== node) words.set(key, { node, at: performance.now() })
    })
  return words
}

const round = async (client: BenchClient, running: BenchNode[], start: () => Promise<BenchNode>, plan: Plan, name: string): Promise<Case[]> => {
  await client.balanced(running.length)
  const keys = Array.from({ length: sessions }, (_, index) => `${name}-${index}`)
  const words = heard(client, keys)
  await Promise.all(keys.map((key) => client.command('chat.send', { sessionKey: key, message: 'wait', idempotencyKey: key })))
  while (words.size < sessions) await pause(10)
  if (plan.join) running.push(await start())
  await pause(plan.waitMs)
  const [victim] = running.splice(Math.floor(plan.victim * running.length), 1)
  if (victim === undefined) throw new Error('no node is left')
  const ofVictim = keys.filter((key) => words.get(key)?.node === victim.id)
  const killed = performance.now()
  await killNode(victim)
  while (performance.now() - killed < lostMs && ofVictim.some((key) => words.get(key)?.node === victim.id)) await pause(10)
  const told = `${name}: ${plan.join ? `a node joined ${plan.waitMs} ms before the kill` : 'no node joined'}`
  const cases = ofVictim.map((key) => {
    const { node, at } = words.get(key)!
    return node === victim.id ? { ms: lostMs, told: `${told}; ${key} never spoke again` } : { ms: at - killed, told }
  })
  await Promise.all(keys.map((key) => client.command('chat.abort', { sessionKey: key })))
  while (running.length < nodes) running.push(await start())
  return cases
}

const lane = async (url: string, number: number): Promise<Case[]> => {
  const prefix = `lane${number}`
  const random = seededRandom(seed * 1_000 + number).next
  const start = () => startNode(url, { holds: true, prefix })
  const running = await Promise.all(Array.from({ length: nodes }, start))
  const client = await openClient(url, prefix)
  const cases: Case[] = []
  try {
    for (let turn = number; turn < kills; turn += lanes) {
      const of = await round(client, running, start, planOf(random), `r${turn}`)
      cases.push(...of)
      if (process.env.BENCH_VERBOSE) console.error(`r${turn}: ${of.map(({ ms }) => Math.round(ms)).join(' ')}  ${of[0]?.told ?? ''}`)
    }
  } finally {
    await client.close()
    await Promise.all(running.map(killNode))
  }
  return cases
}

const measure = (): Promise<Case[]> =>
  withFolder(async (folder) => {
    const server = await startServer(folder)
    try {
      return (await Promise.all(Array.from({ length: lanes }, (_, number) => lane(server.url, number)))).flat()
    } finally {
      await server.stop()
    }
  })

export const run = async (): Promise<Table[]> => {
  const cases = await measure()
  const took = cases.map(({ ms }) => ms)
  const lost = took.filter((ms) => ms >= lostMs).length
  const slowest = [...cases].sort((one, other) => other.ms - one.ms).slice(0, slowestShown)
  const table = plainTable(
    `one of ${nodes} or ${nodes + 1} nodes is killed, ${kills} times (seed ${seed}), with ${sessions} turns under way: ${cases.length} of them were its own`,
    'ms',
    [0.5, 0.9, 0.99, 1].map((share) => [share === 1 ? 'the slowest' : `p${share * 100}`, percentile(took, share)] as const),
    [goal('p99', percentile(took, 0.99), 'at most', 3_000, 'ms'), goal('turns that nobody went on with', lost, 'exactly', 0, 'turns')],
  )
  table.note = `The slowest: ${slowest.map(({ ms, told }) => `${Math.round(ms)} ms (${told})`).join('; ')}.`
  show(table)
  return [table]
}

if (import.meta.main) await run()
