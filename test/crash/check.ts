/**
 * Judges what is left of a session that was killed: by what its client wrote down, by what its tools did to the world, and by the stored
 * journal, which is read here with nothing but SQLite, msgpack and CRC-32. It shares no code with the runtime, so it shares no mistake either.
 */
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { addExtension, Unpackr } from 'msgpackr'
import { type ClientLine, clientFile, databaseFile, type EffectLine, effectsFile, readLines } from './lines.ts'

type Event = { type: string; id?: string; text?: string; callId?: string; decision?: string; data?: Data; error?: Data }
type Data = { kind?: string; id?: string; text?: string; calls?: { id: string; name: string }[]; output?: unknown; code?: string }
type Input = { to?: string; from?: string; timer?: number; event: Event; id?: string }
type Commit = {
  address: string
  seq: number
  epoch: number
  writer: string
  at: number
  prev: number
  create?: object
  claim?: boolean
  inputs: Input[]
  states: Record<string, unknown>
  notes?: { type: string; add?: (string | object)[]; ended?: { runId: string; status: string; ids: string[] }[] }[]
  crash?: object
  quarantine?: object
}

/** What else is wrong is found here; an empty list is the proof. */
export type Verdict = { violations: string[]; commits: number; epochs: number; executions: number; answered: number }

const unpackr = new Unpackr({ useRecords: false })
// Errors are an extension of the format; all that matters here is what they hold, either inside of the extension or behind its mark.
const inside = (bytes: Uint8Array): unknown => unpackr.unpack(bytes)
addExtension({ type: 0x45, unpack: Object.assign(inside, { read: (parts: unknown) => parts }) })

const turnEnds = ['completed', 'failed', 'cancelled']
const over = new Set<unknown>([...turnEnds, 'done', 'stopped', 'error', 'denied', 'closed', 'aborted', 'reported-in-doubt'])

type Row = { root: number; kind: string; id: string; seq: number; first: number; checksum: number; wake_at: number | null }
type FrameRow = { seq: number; previous: number; checksum: number; bytes: Uint8Array }

export const check = (folder: string): Verdict => {
  const violations: string[] = []
  const expect = (fine: boolean, otherwise: string): void => {
    if (!fine) violations.push(otherwise)
  }
  const client = readLines<ClientLine>(clientFile(folder))
  const effects = readLines<EffectLine>(effectsFile(folder))
  const commits = readJournal(databaseFile(folder), expect)

  checkWriters(commits, expect)
  checkEnd(commits, expect)
  const turns = checkTurns(commits, expect)
  const answered = checkMessages(commits, client, turns, expect)
  checkTools(commits, effects, expect)
  checkFinalTexts(commits, effects, client, expect)
  return {
    violations,
    commits: commits.length,
    epochs: new Set(commits.map(({ epoch }) => epoch)).size,
    executions: effects.filter(({ phase }) => phase === 'start').length,
    answered,
  }
}

type Expect = (fine: boolean, otherwise: string) => void

/** Every frame as it lies on the disk: no gap, each checksum continues the one before, each commit names the bytes before it. */
const readJournal = (file: string, expect: Expect): Commit[] => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const roots = database.prepare('SELECT root, kind, id, seq, first, checksum, wake_at FROM roots').all() as unknown as Row[]
    const [root] = roots
    expect(roots.length === 1, `there are ${roots.length} roots`)
    if (root === undefined) return []
    expect(root.wake_at === null, `the journal still wants to be woken at ${root.wake_at}`)
    const frames = database
      .prepare('SELECT seq, previous, checksum, bytes FROM frames WHERE root = ? ORDER BY seq')
      .all(root.root) as unknown as FrameRow[]
    expect(frames.length === root.seq, `the head says ${root.seq}, there are ${frames.length} frames`)
    let chain = crc32(`${root.kind}/${root.id}`)
    let previous = 0
    const commits = frames.map((frame, index) => {
      const commit = unpackr.unpack(frame.bytes) as Commit
      expect(frame.seq === index + 1 && commit.seq === index + 1, `frame ${index + 1} calls itself ${frame.seq} and ${commit.seq}`)
      expect(frame.previous === chain && frame.checksum === crc32(frame.bytes, chain), `the chain of the store breaks at ${frame.seq}`)
      expect(commit.prev === previous, `commit ${commit.seq} does not name the bytes before it`)
      expect(commit.address === `${root.kind}/${root.id}`, `commit ${commit.seq} belongs to ${commit.address}`)
      chain = frame.checksum
      previous = crc32(frame.bytes)
      return commit
    })
    expect(chain === root.checksum, 'the head names another last frame')
    return commits
  } finally {
    database.close()
  }
}

const checkWriters = (commits: Commit[], expect: Expect): void => {
  const writers = new Map<number, string>()
  for (const [index, commit] of commits.entries()) {
    const before = commits[index - 1]
    const { seq, epoch, writer } = commit
    expect(writer === (writers.get(epoch) ?? writer), `epoch ${epoch} has two writers, the second one at ${seq}`)
    writers.set(epoch, writer)
    if (before === undefined) {
      expect(commit.create !== undefined && epoch === 1, 'the journal does not begin with its creation')
      continue
    }
    expect(epoch === before.epoch || epoch === before.epoch + 1, `the epoch goes from ${before.epoch} to ${epoch} at ${seq}`)
    expect((epoch !== before.epoch) === (commit.claim === true), `epoch ${epoch} begins without a claim, or is claimed twice, at ${seq}`)
    expect(commit.at >= before.at, `time goes back at ${seq}`)
    expect(commit.crash === undefined && commit.quarantine === undefined, `something crashed at ${seq}`)
  }
}

/** Nothing stays running. */
const checkEnd = (commits: Commit[], expect: Expect): void => {
  const states = Object.assign({}, ...commits.map((commit) => commit.states)) as Record<string, unknown>
  for (const [path, state] of Object.entries(states))
    expect(path === '/' ? state === 'awaiting-input' : over.has(state), `at the end ${path} is ${JSON.stringify(state)}`)
}

type Turn = { path: string; ends: { seq: number; status: string }[]; messages: string[] }

/** Each turn, with the messages that it showed to the model, comes to exactly one end. */
const checkTurns = (commits: Commit[], expect: Expect): Turn[] => {
  const turns: Turn[] = []
  const ids = new Set(commits.flatMap(({ inputs }) => inputs.flatMap(({ event, id }) => (event?.type === 'message' && id ? [id] : []))))
  for (const { seq, states, notes = [] } of commits) {
    for (const [path, status] of Object.entries(states).filter(([at]) => /^\/turn#\d+$/.test(at))) {
      let turn = turns.find((one) => one.path === path)
      if (turn === undefined) turns.push((turn = { path, ends: [], messages: [] }))
      if (over.has(status)) turn.ends.push({ seq, status: String(status) })
    }
    // Where one turn ends and the next begins in one commit, messages are the next one's: the one that ended was shown its own before.
    const newest = turns.toSorted((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true })).at(-1)
    for (const added of notes.flatMap(({ add = [] }) => add)) if (typeof added === 'string' && ids.has(added)) newest?.messages.push(added)
  }
  for (const { path, ends } of turns) expect(ends.length === 1, `${path} ends ${ends.length} times`)
  return turns
}

/** Every message that was acknowledged, or got in unacknowledged, is there once and is answered by one turn. @returns how many */
const checkMessages = (commits: Commit[], client: ClientLine[], turns: Turn[], expect: Expect): number => {
  const ids = new Set(client.filter(({ what }) => what === 'sent').map(({ id }) => id))
  let answered = 0
  for (const id of ids) {
    const seqs = commits.flatMap(({ seq, inputs }) => inputs.filter((input) => input.id === id).map(() => seq))
    const acked = client.filter((line) => line.what === 'acked' && line.id === id)
    expect(seqs.length === 1, `message ${id}, acknowledged ${acked.length} times, is ${seqs.length} times in the journal`)
    expect(acked.length === 1, `message ${id} has ${acked.length} acknowledgements`)
    for (const { seq } of acked) expect(seq === undefined || seq === seqs[0], `message ${id} was acknowledged as ${seq} and stands at ${seqs[0]}`)
    const ends = commits.flatMap(({ notes = [] }) => notes.flatMap(({ ended = [] }) => ended.filter((end) => end.ids.includes(id))))
    expect(ends.length === 1, `message ${id} has ${ends.length} outcomes in the journal`)
    const [end] = ends
    const answering = turns.filter(({ messages }) => messages.includes(id))
    const times = turns.flatMap(({ messages }) => messages.filter((message) => message === id)).length
    // One that was called off while it waited is never shown to a model.
    const calledOff = end?.status === 'cancelled' && end.runId === id && times === 0
    expect(calledOff || (answering.length === 1 && times === 1), `message ${id} was shown ${times} times in ${answering.length} turns`)
    if (!calledOff)
      expect(answering[0]?.ends[0]?.status === end?.status, `${answering[0]?.path} ends otherwise than its message ${id}: ${end?.status}`)
    const outcomes = client.filter((line) => line.what === 'answered' && line.id === id)
    expect(outcomes.length === 1, `the client has ${outcomes.length} answers to ${id}`)
    for (const { status } of outcomes) expect(status === end?.status, `the client heard ${status} of ${id}, the journal says ${end?.status}`)
    answered += outcomes.length
  }
  return answered
}

/** What ran, against what the policies allow and what the journal says. */
const checkTools = (commits: Commit[], effects: EffectLine[], expect: Expect): void => {
  const inputs = commits.flatMap(({ seq, at, inputs }) => inputs.map((input) => ({ seq, at, ...input })))
  const results = inputs.filter(({ event }) => event?.type === 'xstate.promise.resolve' && event.data?.kind === 'tool')
  const planned = inputs.flatMap(({ event }) => (event?.data?.kind === 'model' ? (event.data.calls ?? []) : []))
  const doubts = inputs.filter(({ event }) => event?.type === 'xstate.promise.reject' && JSON.stringify(event).includes('tool_in_doubt'))
  for (const call of new Set(effects.map((line) => line.call))) {
    const starts = effects.filter((line) => line.call === call && line.phase === 'start')
    const [first] = starts
    if (first === undefined) continue
    const name = `${first.tool} ${call}`
    expect(planned.filter(({ id }) => id === call).length === 1, `${name} ran and was not asked for exactly once`)
    const recorded = results.filter(({ event }) => event.data?.id === call)
    expect(recorded.length <= 1, `${name} has ${recorded.length} results`)
    for (const { at, event } of recorded) {
      expect(
        starts.every((start) => start.at <= at),
        `${name} ran again after its result was recorded`,
      )
      const { token } = (event.data?.output ?? {}) as { token?: string }
      expect(
        effects.some((line) => line.call === call && line.phase === 'end' && line.token === token),
        `the result of ${name} is not what any execution of it returned`,
      )
    }
    const approvals = inputs.filter(({ event }) => event?.type === 'approve' && event.callId === call && event.decision === 'approve')
    if (first.tool === 'ship')
      expect(
        approvals.some(({ at }) => at <= first.at),
        `${name} ran before anybody agreed`,
      )
    if (first.policy !== 'once') continue
    for (const [index, start] of starts.entries()) {
      const before = starts[index - 1]
      if (before === undefined) continue
      const agreed = approvals.some(
        (approval) =>
          approval.at >= before.at && approval.at <= start.at && doubts.some((doubt) => doubt.seq <= approval.seq && doubt.at >= before.at),
      )
      expect(agreed, `${name} is marked once and ran ${starts.length} times; nobody agreed to number ${index + 1}`)
    }
  }
}

/** The last answer of the first turn proves what its model has seen: what each tool really returned, and what was said in mid-turn. */
const checkFinalTexts = (commits: Commit[], effects: EffectLine[], client: ClientLine[], expect: Expect): void => {
  for (const { id, status, text = '' } of client.filter(({ what }) => what === 'answered')) {
    if (status !== 'completed') continue
    const said = commits.flatMap(({ inputs }) => inputs.flatMap(({ event }) => (event?.data?.kind === 'model' ? [event.data] : [])))
    expect(
      said.filter((answer) => answer.text === text && answer.calls?.length === 0).length === 1,
      `the journal does not hold the answer to ${id} once`,
    )
    if (!text.includes('charge')) continue
    const heard = commits.flatMap(({ inputs }) => inputs.flatMap(({ event, id: of }) => (of === 'm1' || of === 'm2' ? [event.text ?? '?'] : [])))
    for (const words of heard) expect(text.includes(words), `the final text does not know of '${words}'`)
    for (const tool of ['charge', 'lookup', 'ship']) {
      const [, shown = ''] = new RegExp(`${tool} (\\w+)`).exec(text) ?? []
      const really = effects.some((line) => line.tool === tool && line.token === shown)
      expect(really || (tool === 'charge' && shown === 'tool_in_doubt'), `the final text shows '${shown}' as the result of ${tool}`)
    }
  }
}
