/** What a person does that changes something, or asks the node to work. */
import type { Chart } from '../../../../src/actors/index.ts'
import type { SocketClient } from '../../../../src/client/socket/index.ts'
import { errorBody } from '../../../../src/contracts/errors.ts'
import type { Span } from '../../../../src/contracts/tracing.ts'
import type { Approval } from '../../../../src/contracts/turn.ts'
import type { ForkWish, Verdict } from '../model.ts'
import type { Subject } from '../viewing/viewing.context.ts'
import { call } from './call.ts'
import type { Replayed } from './commands.ts'

/** @throws RuntimeError */
export const resolve = async (client: SocketClient, { id }: Subject, approval: Approval, decision: 'approve' | 'deny'): Promise<void> => {
  const { callId, inputHash, attempt } = approval
  await client.call('approvals.resolve', { sessionKey: id, callId, inputHash, attempt, decision, by: 'inspector' })
}

/** @throws RuntimeError */
export const forkOf = async (client: SocketClient, subject: Subject, { at, as, answers, change }: ForkWish): Promise<string> => {
  await call(client, 'trace.fork', { ...subject, at, as, answers, ...(change && { change }) })
  return as
}

/** @throws RuntimeError */
export const exportOf = async (client: SocketClient, subject: Subject): Promise<string> => {
  const { file } = await call<{ file: string }>(client, 'trace.export', { ...subject })
  return file
}

/** ms: a long journal is folded for a while. */
const replayMs = 120_000

export const replayed = (client: SocketClient, subject: Subject): Promise<Verdict> =>
  client.call<Replayed>('trace.replay', { ...subject }, { timeoutMs: replayMs }).then(
    (said): Verdict => ({ state: 'said', replayed: said }),
    (error: unknown): Verdict => ({ state: 'failed', error: errorBody(error) }),
  )

/** The charts of a kind of actor and of those below it; none where they cannot be had: then its states are a list. */
export const chartsFor = (client: SocketClient, kind: string): Promise<Record<string, Chart>> =>
  client.call<{ charts: Record<string, Chart> }>('machines.get', { kind }).then(
    ({ charts }) => charts,
    () => ({}),
  )

/** What this node has observed of the runs of a session; where that cannot be had, it is not said how long the first token took. */
export const spansOf = (client: SocketClient, sessionKey: string, known: readonly Span[]): Promise<readonly Span[]> =>
  client.call<{ runs: { spans: Span[] }[] }>('trace.spans', { sessionKey }).then(
    ({ runs }) => runs.flatMap(({ spans }) => spans),
    () => known,
  )
