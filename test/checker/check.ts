/** The promises, as rules about evidence. */
import type { ClientLine, Commit, EffectLine, Evidence, Expect } from './evidence.ts'

export type Verdict = { violations: string[]; commits: number; epochs: number; executions: number; answered: number }

const turnEnds = ['completed', 'failed', 'cancelled']
const over = new Set<unknown>([...turnEnds, 'done', 'stopped', 'error', 'denied', 'closed', 'aborted', 'reported-in-doubt'])

/** Judges one session. What is wrong is said in `violations`; none is the proof. */
export const checkSession = ({ address, commits, client, effects }: Evidence): Verdict => {
  const violations: string[] = []
  const expect: Expect = (fine, otherwise) => {
    if (!fine) violations.push(`${address}: ${otherwise}`)
  }
  checkWriters(commits, expect)
  checkEnd(commits, expect)
  const answered = checkMessages(commits, client, checkTurns(commits, expect), expect)
  checkTools(commits, effects, expect)
  return {
    violations,
    commits: commits.length,
    epochs: new Set(commits.map(({ epoch }) => epoch)).size,
    executions: effects.filter(({ phase }) => phase === 'start').length,
    answered,
  }
}

/** One writer at a time, each having claimed its epoch; time does not go back; nothing crashed. */
export const checkWriters = (commits: Commit[], expect: Expect): void => {
  const writers = new Map<number, string>()
  for (const [index, commit] of commits.entries()) {
    const before = commits[index - 1]
    const { seq, epoch, writer } = commit
    expect(writer === (writers.get(epoch) ?? writer), `epoch ${epoch} has two writers, the second one at ${seq}`)
    writers.set(epoch, writer)
    expect(commit.crash === undefined && commit.quarantine === undefined, `something crashed at ${seq}: ${JSON.stringify(commit.crash)}`)
    if (before === undefined) {
      expect(commit.create !== undefined && epoch === 1, 'the journal does not begin with its creation')
      continue
    }
    expect(epoch === before.epoch || epoch === before.epoch + 1, `the epoch goes from ${before.epoch} to ${epoch} at ${seq}`)
    expect((epoch !== before.epoch) === (commit.claim === true), `epoch ${epoch} begins without a claim, or is claimed twice, at ${seq}`)
    expect(commit.at >= before.at, `time goes back at ${seq}`)
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
    // One turn may end and the next begin in one commit: what is added before the note of the end was said to the one that ends.
    const newest = turns.toSorted((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true })).at(-1)
    const ending = turns.find(({ ends }) => ends.some((end) => end.seq === seq))
    const lastEnd = notes.findLastIndex(({ ended = [] }) => ended.some(({ ids: of }) => of.length > 0))
    for (const [index, { add = [] }] of notes.entries())
      for (const id of add.flatMap(idsIn)) if (ids.has(id)) ((index < lastEnd ? ending : undefined) ?? newest)?.messages.push(id)
  }
  for (const { path, ends } of turns) expect(ends.length === 1, `${path} ends ${ends.length} times`)
  return turns
}

/** A message is added by its id, several that were collected by a list of theirs, and other things otherwise. */
const idsIn = (added: string | { prompt?: { ids: string[] } }): string[] => (typeof added === 'string' ? [added] : (added.prompt?.ids ?? []))

/** Every message that was acknowledged, or got in unacknowledged, is there once and is answered by one turn. @returns how many */
const checkMessages = (commits: Commit[], client: ClientLine[], turns: Turn[], expect: Expect): number => {
  const ids = new Set(client.filter(({ what }) => what === 'sent').map(({ id }) => id))
  let answered = 0
  for (const id of ids) {
    const seqs = commits.flatMap(({ seq, inputs }) => inputs.filter((input) => input.id === id).map(() => seq))
    const acked = client.filter((line) => line.what === 'acked' && line.id === id)
    const ends = commits.flatMap(({ notes = [] }) => notes.flatMap(({ ended = [] }) => ended.filter((end) => end.ids.includes(id))))
    // Refused for good: it may stand in the journal, since that is where it was decided, and nothing came of it.
    if (acked.length === 0 && client.some((line) => line.what === 'refused' && line.id === id && line.code === 'overloaded')) {
      expect(
        seqs.length <= 1 && ends.length === 0,
        `message ${id} was refused, stands ${seqs.length} times in the journal, ended ${ends.length} times`,
      )
      continue
    }
    expect(seqs.length === 1, `message ${id}, acknowledged ${acked.length} times, is ${seqs.length} times in the journal`)
    expect(acked.length === 1, `message ${id} has ${acked.length} acknowledgements`)
    for (const { seq } of acked) expect(seq === undefined || seq === seqs[0], `message ${id} was acknowledged as ${seq} and stands at ${seqs[0]}`)
    expect(ends.length === 1, `message ${id} has ${ends.length} outcomes in the journal`)
    const [end] = ends
    const answering = turns.filter(({ messages }) => messages.includes(id))
    const times = turns.flatMap(({ messages }) => messages.filter((message) => message === id)).length
    // One that was called off while it waited is never shown to a model.
    const calledOff = end?.status === 'cancelled' && times === 0
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
  const inputs = commits.flatMap(({ seq, order, inputs }) => inputs.map((input) => ({ seq, order, ...input })))
  const results = inputs.filter(({ event }) => event?.type === 'xstate.promise.resolve' && event.data?.kind === 'tool')
  const planned = inputs.flatMap(({ event, order }) =>
    event?.data?.kind === 'model' ? (event.data.calls ?? []).map(({ id }) => ({ id, order })) : [],
  )
  const doubts = inputs.filter(({ event }) => event?.type === 'xstate.promise.reject' && JSON.stringify(event).includes('tool_in_doubt'))
  for (const call of new Set(effects.map((line) => line.call))) {
    const starts = effects.filter((line) => line.call === call && line.phase === 'start')
    const [first] = starts
    if (first === undefined) continue
    const name = `${first.tool} ${call}`
    const asked = planned.filter(({ id }) => id === call)
    expect(asked.length === 1, `${name} ran and was asked for ${asked.length} times`)
    for (const { order } of asked) expect(order <= first.order, `${name} ran before it was written down that it should`)
    const recorded = results.filter(({ event }) => event.data?.id === call)
    expect(recorded.length <= 1, `${name} has ${recorded.length} results`)
    for (const { order, event } of recorded) {
      expect(
        starts.every((start) => start.order <= order),
        `${name} ran again after its result was recorded`,
      )
      const { token } = (event.data?.output ?? {}) as { token?: string }
      expect(
        effects.some((line) => line.call === call && line.phase === 'end' && line.token === token),
        `the result of ${name} is not what any execution of it returned`,
      )
    }
    const approvals = inputs.filter(({ event }) => event?.type === 'approve' && event.callId === call && event.decision === 'approve')
    if (first.approval)
      expect(
        approvals.some(({ order }) => order <= first.order),
        `${name} ran before anybody agreed`,
      )
    if (first.policy !== 'once') continue
    for (const [index, start] of starts.entries()) {
      const before = starts[index - 1]
      if (before === undefined) continue
      const agreed = approvals.some(
        (approval) =>
          approval.order >= before.order &&
          approval.order <= start.order &&
          doubts.some((doubt) => doubt.seq <= approval.seq && doubt.order >= before.order),
      )
      expect(agreed, `${name} is marked once and ran ${starts.length} times; nobody agreed to number ${index + 1}`)
    }
  }
}
