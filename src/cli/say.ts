/** Says something in a session and follows it to its outcome, whatever happens to events on their way. */
import { randomUUID } from 'node:crypto'
import type { CommandInput } from '../contracts/commands.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { TurnOutput } from '../contracts/session.ts'
import { Run, type RunEvent } from '../runtime/run.ts'
import type { SessionView } from '../runtime/session.ts'
import type { Client } from './client.ts'
import { shellWord } from './output.ts'

export type Words = Omit<CommandInput<'chat.send'>, 'sessionKey'>
export type Accepted = { id: string; runId: string; status: string; seq: number }

/** How often the session itself is asked: events may be lost, and a session that was set aside says nothing any more. */
const askEveryMs = 1000

export type Conversation = { events: AsyncIterable<RunEvent>; outcome: Promise<TurnOutput>; stop(): void }

/** Resolves when the message is durable. @throws RuntimeError when it was not accepted */
export const say = (client: Client, sessionKey: string, words: Words): Promise<Conversation> => {
  const id = words.idempotencyKey ?? `m-${randomUUID()}`
  return follow(client, sessionKey, id, () => client.command<Accepted>('chat.send', { sessionKey, ...words, idempotencyKey: id }))
}

/**
 * Follows the turn that answers a message from the moment that `begin` makes it go on.
 * @param id of the message, or of the run @throws whatever `begin` throws
 */
export const follow = async (client: Client, sessionKey: string, id: string, begin: () => Promise<unknown>): Promise<Conversation> => {
  const run = new Run(id)
  const subscription = await client.events(sessionKey)
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const stop = () => {
    stopped = true
    clearTimeout(timer)
    subscription.stop()
  }
  run.follow(stop)
  const heard = new Set<string>()
  void (async () => {
    for await (const { path, part: _, seq, ...event } of subscription.events) {
      if (event.type === 'approval') heard.add(String(event.callId))
      run.hear({ path, event, ...(seq === undefined ? {} : { seq }) })
    }
  })()

  let late = 0
  const ask = async (): Promise<void> => {
    const view = await client.command<SessionView>('sessions.get', { sessionKey })
    if (view.quarantine)
      throw new RuntimeError('quarantined', `the session was set aside: ${view.quarantine.message}`, {
        hint: `see 'statecast trace ${shellWord(sessionKey)}', mend the cause, then 'statecast revive ${shellWord(sessionKey)}'`,
      })
    if (view.run?.ids.includes(id)) run.runId = view.run.runId
    for (const approval of view.approvals)
      if (!heard.has(approval.callId)) {
        heard.add(approval.callId)
        run.hear({ path: '/', event: { type: 'approval', ...approval } })
      }
    // It has an outcome; its event may be on the way, so it gets one more round.
    if (!view.run?.ids.includes(id) && !view.queued.includes(id) && ++late > 1)
      run.end(await client.command<TurnOutput>('agent.wait', { sessionKey, runId: id, timeoutMs: 60_000 }))
  }
  const keepAsking = (): void => {
    timer = setTimeout(
      () =>
        void ask().then(
          () => stopped || keepAsking(),
          (error: unknown) => run.fail(error),
        ),
      askEveryMs,
    )
  }
  try {
    const begun = (await begin()) as Partial<Accepted>
    if (begun.status === 'duplicate') {
      late = 1
      await ask()
    }
    if (!stopped) keepAsking()
    return { events: run.events(), outcome: run.result(), stop: () => run.fail(new RuntimeError('cancelled', 'no longer followed')) }
  } catch (error) {
    run.fail(error)
    throw error
  }
}
