/**
 * What is left of a session when everything is over: its journal, what its clients wrote down, what its tools did to the world. Whoever
 * judges the runtime shares no code with it, and so no mistake either.
 */
import { crc32 } from 'node:zlib'
import { unpack } from './unpack.ts'

type Data = { kind?: string; id?: string; text?: string; calls?: { id: string; name: string }[]; output?: unknown; code?: string }
export type Event = { type: string; id?: string; text?: string; callId?: string; decision?: string; data?: Data; error?: Data }
export type Input = { to?: string; from?: string; timer?: number; event: Event; id?: string }
export type Commit = {
  v: number
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
  notes?: { type: string; add?: (string | { prompt?: { ids: string[] } })[]; ended?: { runId: string; status: string; ids: string[] }[] }[]
  crash?: object
  quarantine?: object
  /** When it was written, on the scale of {@link EffectLine.order}. */
  order: number
}

/** What a client knew: each line was written before it went on. */
export type ClientLine = {
  what: 'sent' | 'acked' | 'refused' | 'deciding' | 'decided' | 'cancelling' | 'cancelled' | 'answered'
  id: string
  seq?: number | undefined
  code?: string | undefined
  status?: string | undefined
  text?: string | undefined
}

/** What a tool did to the world. `token` is made anew by every execution that came to its end. */
export type EffectLine = {
  /** Any number that grows with time. */
  order: number
  phase: 'start' | 'end'
  call: string
  tool: string
  policy: string
  /** It may not run before a person agreed. */
  approval?: boolean | undefined
  token?: string | undefined
}

export type Evidence = { address: string; commits: Commit[]; client: ClientLine[]; effects: EffectLine[] }
export type Expect = (fine: boolean, otherwise: string) => void

/** Frames as they lie in a store, checked for being one chain. @param orderOf when a commit was written, if not at its own time */
export const readCommits = (
  address: string,
  frames: readonly { seq: number; bytes: Uint8Array }[],
  expect: Expect,
  orderOf: (commit: Omit<Commit, 'order'>) => number = ({ at }) => at,
): Commit[] => {
  let previous = 0
  return frames.map(({ seq, bytes }, index) => {
    const commit = unpack(bytes) as Omit<Commit, 'order'>
    expect(seq === index + 1 && commit.seq === index + 1, `frame ${index + 1} of ${address} calls itself ${seq} and ${commit.seq}`)
    expect(commit.prev === previous, `commit ${commit.seq} of ${address} does not name the bytes before it`)
    expect(commit.address === address, `commit ${commit.seq} of ${address} belongs to ${commit.address}`)
    previous = crc32(bytes)
    return { ...commit, order: orderOf(commit) }
  })
}
