/** Rows of a made-up trace, and what the page makes of them. */
import type { Commit } from '../../../src/contracts/journal.ts'
import { Rows } from '../../../web/inspector/src/fold/rows.rules.ts'
import { Recording } from '../../../web/inspector/src/live/recording.ts'
import type { Recorded } from '../../../web/inspector/src/model.ts'

type Told = Partial<Commit>

/** Commits that follow each other, a second apart. */
export const commits = (...told: Told[]): Commit[] =>
  told.map((one, index) => ({
    v: 1,
    address: 'session/main',
    seq: index + 1,
    epoch: 1,
    writer: 'n1',
    at: (index + 1) * 1000,
    prev: 0,
    inputs: [],
    states: {},
    digest: 0,
    ...one,
  }))

export const rowsOf = (...told: Told[]) => {
  const rows = new Rows()
  return commits(...told).map((commit) => rows.take(commit))
}

export const recordedOf = (...told: Told[]): Recorded => {
  const recording = new Recording('session')
  recording.take(rowsOf(...told), { machine: 'session', signature: 's', local: true })
  return recording.recorded()
}

export const message = (text: string) => ({ to: '/', id: text, event: { type: 'message', id: text, text } })
export const answer = (path: string, data: Record<string, unknown>) => ({ from: path, to: path, event: { type: 'xstate.promise.resolve', data } })
export const failure = (path: string, text: string) => ({ from: path, to: path, event: { type: 'xstate.promise.reject', data: new Error(text) } })

/** A message, a call of a tool that a person has to allow, a kill while it runs, and its end. */
export const refund: Told[] = [
  {
    create: { machine: 'session', signature: 's' },
    inputs: [message('refund me')],
    states: {
      '/': { running: 'answering' },
      '/turn#1': { running: 'answering' },
      '/turn#1/loop#1': { calling: 'streaming' },
      '/turn#1/loop#1/model#1': 'active',
    },
  },
  {
    inputs: [answer('/turn#1/loop#1/model#1', { kind: 'model', text: '', calls: [{ name: 'refund', callId: 'c', input: {} }] })],
    states: {
      '/turn#1': { running: 'awaiting-input' },
      '/turn#1/loop#1': { invoking: 'awaiting-input' },
      '/turn#1/loop#1/model#1': 'done',
      '/turn#1/loop#1/tool-0#1': 'awaiting-input',
    },
  },
  {
    inputs: [{ to: '/', event: { type: 'approve', decision: 'approve', by: 'mia' } }],
    states: {
      '/turn#1': { running: 'answering' },
      '/turn#1/loop#1': { invoking: 'working' },
      '/turn#1/loop#1/tool-0#1': 'running',
      '/turn#1/loop#1/tool-0#1/execute#1': 'active',
    },
  },
  {
    at: 60_000,
    epoch: 2,
    writer: 'n2',
    claim: true,
    inputs: [failure('/turn#1/loop#1/tool-0#1/execute#1', 'it may have run')],
    states: { '/turn#1/loop#1/tool-0#1': 'failed', '/turn#1/loop#1/tool-0#1/execute#1': 'error' },
  },
  {
    at: 61_000,
    epoch: 2,
    writer: 'n2',
    inputs: [],
    states: { '/': 'awaiting-input', '/turn#1': 'completed', '/turn#1/loop#1': 'completed' },
    notes: [{ type: 'transcript', ended: [{ runId: 'refund me' }] }],
  },
]
