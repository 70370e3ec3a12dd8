/** Judges what is left: journals as the server has them, notes of clients, traces of tools. Shares no code with the runtime. */
import { checkSession } from '../checker/check.ts'
import { type Commit, type Expect, readCommits } from '../checker/evidence.ts'
import type { StoredJournal } from '../checker/nats.ts'
import { type Harm, type Note, pidOf, type Trace } from './traces.ts'

export type Figures = {
  sessions: number
  commits: number
  epochs: number
  messages: number
  turns: Record<string, number>
  executions: number
  repeated: Record<string, number>
  inDoubt: number
  /** ms from a kill to the first commit of another process, of sessions that were in mid-turn. */
  takeOversMs: number[]
  /** Those of them during which nothing else was done to anybody. */
  aloneMs: number[]
  /** Worth a look: sessions that waited long. */
  notable: string[]
  /** ms from the first sending of a message to its answer. */
  waitedMs: number[]
  /** Tools that began on a process after another one had claimed their session: by how many ms. */
  lateMs: number[]
}
export type Judgement = { violations: string[]; figures: Figures }

export type Left = { journals: ReadonlyMap<string, StoredJournal>; notes: readonly Note[]; effects: readonly Trace[]; harms: readonly Harm[] }

export const judge = ({ journals, notes, effects, harms }: Left): Judgement => {
  const violations: string[] = []
  const expect: Expect = (fine, otherwise) => {
    if (!fine) violations.push(otherwise)
  }
  const figures: Figures = {
    sessions: journals.size,
    commits: 0,
    epochs: 0,
    messages: 0,
    turns: {},
    executions: 0,
    repeated: {},
    inDoubt: 0,
    takeOversMs: [],
    aloneMs: [],
    notable: [],
    lateMs: [],
    waitedMs: waits(notes),
  }
  const notesOf = Map.groupBy(notes, ({ session }) => `session/${session}`)
  const effectsOf = Map.groupBy(effects, ({ session }) => `session/${session}`)
  for (const address of new Set([...journals.keys(), ...notesOf.keys(), ...effectsOf.keys()])) {
    const { frames, wakeAt } = journals.get(address) ?? { frames: [], wakeAt: null }
    expect(wakeAt === null, `${address}: its journal still wants it to be woken`)
    // The server's own time of each frame, on the clock of this machine: a tool that waits for a frame cannot be earlier.
    const commits = readCommits(address, frames, expect, ({ seq }) => frames[seq - 1]?.storedAt ?? 0)
    const client = notesOf.get(address) ?? []
    const traces = effectsOf.get(address) ?? []
    const verdict = checkSession({ address, commits, client, effects: traces.map((line) => ({ ...line, order: line.at })) })
    violations.push(...verdict.violations)
    checkTexts(address, commits, client, expect)
    checkPlaces(address, commits, traces, expect, figures)
    checkTurns(address, commits, expect)
    count(figures, commits, traces, verdict)
    for (const { what, pid, from } of harms) {
      if (what !== 'SIGKILL') continue
      const tookMs = takeOver(commits, pid, from)
      if (tookMs === undefined) continue
      figures.takeOversMs.push(tookMs)
      // Nothing else went on meanwhile, or had just ended.
      const alone = harms.every((other) => other.pid === pid || other.to < from - calmMs || other.from > from + tookMs)
      if (alone) figures.aloneMs.push(tookMs)
      if (tookMs > slowMs) figures.notable.push(`${address}: ${tookMs} ms without a commit after the kill of ${pid} at ${iso(from)}`)
    }
  }
  return { violations, figures }
}

/** What a client was told is what the journal has the model say. */
const checkTexts = (address: string, commits: Commit[], client: readonly Note[], expect: Expect): void => {
  const said = new Set(commits.flatMap(({ inputs }) => inputs.flatMap(({ event }) => (event?.data?.kind === 'model' ? [event.data.text] : []))))
  for (const { id, what, status, text } of client)
    if (what === 'answered' && status === 'completed') expect(said.has(text), `${address}: the answer to ${id} is not in the journal: ${text}`)
    else if (what === 'refused' && text === undefined) expect(false, `${address}: ${id} was given up`)
}

/** Whatever is done to nodes and servers is no reason for a turn to fail. */
const checkTurns = (address: string, commits: Commit[], expect: Expect): void => {
  for (const { notes = [], order, seq } of commits)
    for (const { ended = [] } of notes)
      for (const one of ended) expect(one.status !== 'failed', `${address}: a turn failed at ${seq}, ${iso(order)}: ${JSON.stringify(one)}`)
}

/** A tool begins where its session is. */
const checkPlaces = (address: string, commits: Commit[], traces: readonly Trace[], expect: Expect, figures: Figures): void => {
  for (const { call, tool, policy, pid, at } of traces.filter(({ phase }) => phase === 'start')) {
    const newest = commits.findLastIndex(({ order }) => order <= at)
    const owner = commits[newest]
    if (owner === undefined || pidOf(owner.writer) === pid) continue
    const claim = commits.slice(0, newest + 1).findLast(({ writer }, index, all) => writer === owner.writer && all[index - 1]?.writer !== writer)
    const lateMs = at - (claim?.order ?? at)
    figures.lateMs.push(lateMs)
    expect(
      lateMs <= 1,
      `${address}: ${tool} (${policy}) ${call} began at ${at} in ${pid}, ${lateMs} ms after ${owner.writer} had claimed the session`,
    )
  }
}

/** The longest that a take-over takes when all goes well: a node is missed for three seconds. */
const slowMs = 8_000
const calmMs = 4_000
const iso = (at: number): string => new Date(at).toISOString()

const count = (figures: Figures, commits: Commit[], traces: readonly Trace[], verdict: ReturnType<typeof checkSession>): void => {
  figures.commits += commits.length
  figures.epochs += verdict.epochs
  figures.messages += verdict.answered
  figures.executions += verdict.executions
  for (const { states, inputs } of commits) {
    for (const [path, status] of Object.entries(states))
      if (/^\/turn#\d+$/.test(path) && typeof status === 'string' && ['completed', 'failed', 'cancelled'].includes(status))
        figures.turns[status] = (figures.turns[status] ?? 0) + 1
    figures.inDoubt += inputs.filter(({ event }) => event?.type === 'xstate.promise.reject' && JSON.stringify(event).includes('tool_in_doubt')).length
  }
  const starts = Map.groupBy(
    traces.filter(({ phase }) => phase === 'start'),
    ({ call }) => call,
  )
  for (const all of starts.values()) {
    const { policy } = all[0]!
    if (all.length > 1) figures.repeated[policy] = (figures.repeated[policy] ?? 0) + all.length - 1
  }
}

const waits = (notes: readonly Note[]): number[] => {
  const sentAt = new Map<string, number>()
  const waited: number[] = []
  for (const { session, what, id, at } of notes) {
    const key = `${session} ${id}`
    if (what === 'sent' && !sentAt.has(key)) sentAt.set(key, at)
    if (what === 'answered') waited.push(at - (sentAt.get(key) ?? at))
  }
  return waited
}

/** When it was in mid-turn there, and somebody else went on. */
const takeOver = (commits: Commit[], pid: number, at: number): number | undefined => {
  const last = commits.findLastIndex(({ order }) => order <= at)
  const before = commits[last]
  if (before === undefined || pidOf(before.writer) !== pid) return undefined
  const states = Object.assign({}, ...commits.slice(0, last + 1).map((commit) => commit.states)) as Record<string, unknown>
  if (states['/'] === 'awaiting-input') return undefined
  const next = commits.slice(last + 1).find(({ writer }) => pidOf(writer) !== pid)
  return next === undefined ? undefined : next.order - at
}
