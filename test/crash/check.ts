/** Judges what is left on the disk of a session whose process was killed. Reads the file with SQLite alone. */
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { checkSession, type Verdict } from '../checker/check.ts'
import { type ClientLine, type Commit, type EffectLine, type Expect, readCommits } from '../checker/evidence.ts'
import { clientFile, databaseFile, effectsFile, type ClientLine as Line, readLines, type EffectLine as Trace } from './lines.ts'

export type { Verdict } from '../checker/check.ts'

type Row = { root: number; kind: string; id: string; seq: number; first: number; checksum: number; wake_at: number | null }
type FrameRow = { seq: number; previous: number; checksum: number; bytes: Uint8Array }

export const check = (folder: string): Verdict => {
  const violations: string[] = []
  const expect: Expect = (fine, otherwise) => {
    if (!fine) violations.push(otherwise)
  }
  const client: ClientLine[] = readLines<Line>(clientFile(folder))
  const effects: EffectLine[] = readLines<Trace>(effectsFile(folder)).map((line) => ({ ...line, order: line.at, approval: line.tool === 'ship' }))
  const commits = readJournal(databaseFile(folder), expect)
  const verdict = checkSession({ address: 'session/shop', commits, client, effects })
  checkFinalTexts(commits, effects, client, expect)
  return { ...verdict, violations: [...violations, ...verdict.violations] }
}

/** Every frame as it lies on the disk: no gap, and each checksum continues the one before. */
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
    for (const frame of frames) {
      expect(frame.previous === chain && frame.checksum === crc32(frame.bytes, chain), `the chain of the store breaks at ${frame.seq}`)
      chain = frame.checksum
    }
    expect(chain === root.checksum, 'the head names another last frame')
    return readCommits(`${root.kind}/${root.id}`, frames, expect)
  } finally {
    database.close()
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
