/** Plays a plan on real processes under load, waits until all is settled, and has it judged. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { readCommits } from '../checker/evidence.ts'
import { readNatsJournals } from '../checker/nats.ts'
import { readLines } from '../crash/lines.ts'
import { seeded } from '../crash/runs.ts'
import { ask, prefix, startLoad } from './client.ts'
import { type Judgement, judge } from './judge.ts'
import type { Act, Plan } from './plan.ts'
import type { Harm, Note, Trace } from './traces.ts'
import { aWorld, removeFolder, type World } from './world.ts'

export type PlayOptions = {
  sessions: number
  servers: number
  thinkMs: number
  turnsPerSession?: number
  keep?: boolean
  say?: (line: string) => void
}
export type Played = Judgement & { harms: Harm[]; notes: Note[]; folder: string }

const settleMs = 60_000
const replaysAtOnce = 8

export const play = async (
  plan: Plan,
  { sessions, servers, thinkMs, turnsPerSession = 10, keep = false, say = () => undefined }: PlayOptions,
): Promise<Played> => {
  const world = await aWorld({ nodes: plan.lanes.length, servers })
  const notes: Note[] = []
  let fine = false
  try {
    await Promise.all(world.slots.map((slot) => slot.start()))
    await world.whole()
    say(`${plan.lanes.length} nodes are up, in ${world.folder}`)
    const stop = startLoad({ nc: world.nc, sessions, random: seeded(plan.seed), thinkMs, turnsPerSession, notes })
    await Promise.all([
      ...plan.lanes.map((acts, lane) => inTurn(acts, say, `node${lane + 1}`, (act) => world.strike(world.slots[lane]!, act))),
      inTurn(plan.serverLane, say, 'server', (act) => world.strikeServer('downMs' in act ? act.downMs : 0)),
    ])
    for (const { node, act } of plan.rounds ?? []) {
      await inTurn([act], say, `node${node + 1}`, (one) => world.strike(world.slots[node]!, one))
      await world.whole()
    }
    await world.whole()
    say('the plan is over')
    await stop()
    say('all is answered')
    const journals = await settled(world)
    say(`read ${journals.size} journals`)
    const { violations, figures } = judge({ journals, notes, effects: readLines<Trace>(world.effects), harms: world.harms })
    violations.push(...(await replayAll(world, [...journals.keys()])))
    fine = violations.length === 0
    if (!fine || keep) keepEvidence(world, plan, notes, violations)
    if (!fine) await keepJournals(world, journals, violations)
    return { violations, figures, harms: world.harms, notes, folder: world.folder }
  } catch (error) {
    keepEvidence(world, plan, notes, [String(error)])
    throw new Error(`see ${world.folder}`, { cause: error })
  } finally {
    await world.close()
    if (fine && !keep) removeFolder(world)
  }
}

const inTurn = async (acts: readonly Act[], say: (line: string) => void, name: string, strike: (act: Act) => Promise<void>): Promise<void> => {
  for (const act of acts) {
    await sleep(act.afterMs)
    say(`${new Date().toISOString()} ${name}: ${JSON.stringify(act)}`)
    await strike(act)
  }
}

/** No journal wants anything any more. */
type Journals = Awaited<ReturnType<typeof readNatsJournals>>
const settled = async (world: World): Promise<Journals> => {
  for (const until = Date.now() + settleMs; ; await sleep(1_000)) {
    const journals = await readNatsJournals(world.urls, prefix)
    if (Date.now() > until || [...journals.values()].every(({ wakeAt }) => wakeAt === null)) return journals
  }
}

const replayAll = async (world: World, addresses: string[]): Promise<string[]> => {
  const wrong: string[] = []
  const left = addresses.map((address) => address.slice(address.indexOf('/') + 1))
  await Promise.all(
    Array.from({ length: replaysAtOnce }, async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        const { verdict, ...rest } = await ask<{ verdict: string }>(world.nc, 'trace.replay', { id }, 30_000).catch((error) => ({
          verdict: String(error),
        }))
        if (verdict !== 'identical') wrong.push(`session/${id}: replay says ${verdict} ${JSON.stringify(rest)}`)
      }
    }),
  )
  return wrong
}

/** Of those that are named: their commits, and what the index of wake times says of them. */
const keepJournals = async (world: World, journals: Journals, violations: readonly string[]): Promise<void> => {
  const jsm = await jetstreamManager(world.nc)
  for (const [address, { frames, wakeAt }] of journals) {
    if (!violations.some((violation) => violation.startsWith(`${address}:`))) continue
    const wish = await jsm.streams.getMessage(`${prefix.toUpperCase()}_WAKES`, { last_by_subj: `${prefix}.wake.${address.replace('/', '.')}` })
    const index = wish && { seq: wish.seq, time: wish.time, wakeAt: new TextDecoder().decode(wish.data) }
    const commits = readCommits(
      address,
      frames,
      () => undefined,
      ({ seq }) => frames[seq - 1]?.storedAt ?? 0,
    )
    writeFileSync(join(world.folder, `${address.replace('/', '.')}.json`), JSON.stringify({ wakeAt, index, commits }, null, 1))
  }
}

const keepEvidence = ({ folder, harms }: World, plan: Plan, notes: readonly Note[], violations: readonly string[]): void =>
  writeFileSync(join(folder, 'story.json'), JSON.stringify({ plan, violations, harms, notes }, null, 1))
