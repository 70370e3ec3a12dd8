/** A client as it ought to be: it repeats a request under the same id until it has a receipt, and writes down what it knows before it goes on. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Approval, isRuntimeError, type Runtime, type Session } from '../../src/index.ts'
import { appendLine, type ClientLine, clientFile, effectsFile, readLines } from './lines.ts'
import { plainWords } from './subject.ts'

export type Scenario = 'approve' | 'cancel'
export type ClientOptions = { runtime: Runtime; session: Session; folder: string; scenario: Scenario; inDoubt: 'approve' | 'deny' }

const patienceMs = 60_000
const pauseMs = 20

/** Goes on where the client before it was killed. Resolves when every message has its answer. */
export const runClient = async ({ runtime, session, folder, scenario, inDoubt }: ClientOptions): Promise<void> => {
  const file = clientFile(folder)
  const before = readLines<ClientLine>(file)
  const knows = (what: ClientLine['what'], id: string) => before.some((line) => line.what === what && line.id === id)
  const note = (what: ClientLine['what'], id: string, more: Partial<ClientLine> = {}) =>
    appendLine(file, { at: Date.now(), pid: process.pid, what, id, ...more } satisfies ClientLine)

  const untilAcked = async (id: string, request: () => Promise<Partial<ClientLine>>): Promise<void> => {
    if (knows('acked', id)) return
    for (;;) {
      note('sent', id)
      try {
        return note('acked', id, await request())
      } catch (error) {
        await refused(id, error)
      }
    }
  }
  const say = (id: string, text: string, queueMode: 'steer' | 'followup') =>
    untilAcked(id, async () => {
      const { seq, status } = await session.send(text, { idempotencyKey: id, queueMode })
      return { seq, status }
    })
  /** As somebody who only has a subject does it: stored in the inbox, delivered when the session takes it. */
  const post = (id: string, text: string) =>
    untilAcked(id, async () => {
      const body = new TextEncoder().encode(JSON.stringify({ type: 'message', text, queueMode: 'followup' }))
      await runtime.publish(runtime.subjects.in(session.address), body, id)
      return {}
    })

  const refused = async (id: string, error: unknown): Promise<void> => {
    if (!isRuntimeError(error)) throw error
    note('refused', id, { code: error.code })
    if (!error.retryable) throw error
    await sleep(pauseMs)
  }

  const hear = async (id: string): Promise<void> => {
    if (knows('answered', id)) return
    for (let waitedMs = 0; ; waitedMs += pauseMs)
      try {
        const { status, text, runId } = await session.wait(id, patienceMs)
        return note('answered', id, { status, text, runId })
      } catch (error) {
        if (!isRuntimeError(error) || error.code === 'timeout' || error.code === 'closed' || waitedMs > patienceMs) throw error
        // What was posted may still be on its way.
        if (error.code !== 'not_found') return note('answered', id, { status: error.code })
        await sleep(pauseMs)
      }
  }

  /** Until the tools of the first step work, or what became of them waits for a decision. */
  const untilToolsRan = async (): Promise<void> => {
    while ((await session.view()).approvals.length === 0 && !readLines<{ tool: string }>(effectsFile(folder)).some(({ tool }) => tool === 'lookup'))
      await sleep(3)
  }

  let mayApprove = false
  let over = false
  const decideAll = async (): Promise<void> => {
    while (!over) {
      for (const approval of (await session.view().catch(() => undefined))?.approvals ?? [])
        if (approval.why === 'in_doubt' || mayApprove) await decide(approval)
      await sleep(3)
    }
  }
  const decide = async (approval: Approval): Promise<void> => {
    const { callId, why } = approval
    const decision = why === 'in_doubt' ? inDoubt : 'approve'
    note('deciding', callId, { decision, why })
    try {
      await session.decide(approval, decision)
      note('decided', callId, { decision, why })
    } catch (error) {
      if (isRuntimeError(error)) note('refused', callId, { code: error.code })
      else throw error
    }
  }

  const cancel = async (): Promise<void> => {
    while (!knows('cancelled', 'm1')) {
      note('cancelling', 'm1')
      try {
        await session.cancel()
        return note('cancelled', 'm1')
      } catch (error) {
        if (isRuntimeError(error) && error.code === 'not_found') return note('cancelled', 'm1', { code: error.code })
        await refused('m1', error)
      }
    }
  }

  await say('m1', 'sell a lamp', 'steer')
  const deciding = decideAll()
  await untilToolsRan()
  if (scenario === 'cancel') {
    await say('m3', `${plainWords} nothing`, 'followup')
    await cancel()
    await hear('m1')
    await hear('m3')
    await say('m2', `${plainWords} goodbye`, 'followup')
    await hear('m2')
  } else {
    await say('m2', 'make it a red one', 'steer')
    await post('m3', `${plainWords} thank you`)
    mayApprove = true
    await Promise.all(['m1', 'm2', 'm3'].map(hear))
  }
  over = true
  await deciding
}
