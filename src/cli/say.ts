/** Says something in a session and follows it to its outcome, whatever happens to events on their way. */
import { randomUUID } from 'node:crypto'
import type { Client } from '../client/index.ts'
import type { CommandInput } from '../contracts/commands.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { Message } from '../contracts/message.ts'
import type { TurnOutput } from '../contracts/turn.ts'
import type { Outcome, SessionView } from '../runtime/index.ts'
import { Run, type RunEvent } from '../runtime/index.ts'
import { hintCommand, type Place } from './hint.ts'
import { outageOf } from './outage.ts'

export type Words = Omit<CommandInput<'chat.send'>, 'sessionKey'>
export type Accepted = { id: string; runId: string; status: string; seq: number }

/** How often the session itself is asked: events may be lost, and a session that was set aside says nothing any more. */
const askEveryMs = 1000
/** For an outcome that stands already: time to read the journal. */
const waitMs = 60_000
/** More than a turn has: it takes at most 50 steps and 200 tool calls unless its agent says otherwise. */
const messagesMax = 500

/** @property id of the message, or of the run that answers it @property place for hints */
export type Followed = { sessionKey: string; id: string; place: Place }

export type Conversation = {
  events: AsyncIterable<RunEvent>
  outcome: Promise<TurnOutput>
  /** What was said since the message, step by step, as the conversation has it. @returns undefined where it does not reach back so far */
  texts?: (output: TurnOutput) => Promise<string[] | undefined>
  stop(): void
}

/** What all steps of an answer said; undefined where that is not known, and what was heard has to do. */
export const textsOf = ({ texts }: Conversation, output: TurnOutput): Promise<string[] | undefined> =>
  // The text of one step is in the outcome itself.
  output.steps > 1 && texts ? texts(output) : Promise.resolve(undefined)

/** Resolves when the message is durable. @throws RuntimeError when it was not accepted */
export const say = async (client: Client, { sessionKey, place }: Omit<Followed, 'id'>, words: Words): Promise<Conversation> => {
  const id = words.idempotencyKey ?? `m-${randomUUID()}`
  const outage = outageOf(client, sessionKey, place)
  const send = (): Promise<Accepted> =>
    client.command<Accepted>('chat.send', { sessionKey, ...words, idempotencyKey: id }).catch((error: unknown) => {
      // Whether it was taken nobody knows; said again under its id it is taken once.
      if (!isRuntimeError(error) || error.code !== 'timeout') throw error
      outage.endure(error)
      return send()
    })
  const conversation = await follow(client, { sessionKey, id, place }, send)
  return { ...conversation, texts: ({ answerId }) => outage.answer(textsSince(client, sessionKey, id, answerId)).catch(() => undefined) }
}

/** The conversation from one of these messages on; undefined where it does not reach back so far. */
const since = async (client: Client, sessionKey: string, ids: readonly string[]): Promise<Message[] | undefined> => {
  const { messages } = await client.command<{ messages: Message[] }>('chat.history', { sessionKey, limit: messagesMax })
  const first = messages.findLastIndex((message) => message.role === 'user' && ids.includes(message.id))
  return first === -1 ? undefined : messages.slice(first)
}

const textsOfSteps = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) => (message.role === 'assistant' && message.text !== '' ? [message.text] : []))

/** What was said since the last of these messages, step by step. */
export const saidSince = async (client: Client, sessionKey: string, ids: readonly string[]): Promise<string[]> =>
  textsOfSteps((await since(client, sessionKey, ids)) ?? [])

const textsSince = async (client: Client, sessionKey: string, id: string, answerId: string | null): Promise<string[] | undefined> => {
  const messages = await since(client, sessionKey, [id])
  const last = messages?.findIndex((message) => message.role === 'assistant' && message.id === answerId) ?? -1
  return last === -1 ? undefined : textsOfSteps(messages?.slice(0, last + 1) ?? [])
}

/**
 * Follows the turn that answers a message from the moment that `begin` makes it go on.
 * @throws whatever `begin` throws
 */
export const follow = async (client: Client, { sessionKey, id, place }: Followed, begin: () => Promise<unknown>): Promise<Conversation> => {
  const run = new Run(id)
  const subscription = await client.events(sessionKey)
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const stop = () => {
    stopped = true
    clearTimeout(timer)
    subscription.stop()
  }
  run.follow(stop, () => askNow())
  const heard = new Set<string>()
  void (async () => {
    for await (const { path, part: _, seq, ...event } of subscription.events) {
      if (event.type === 'approval') heard.add(String(event.callId))
      run.hear({ path, event, ...(client.hearsay ? { elsewhere: true } : {}), ...(seq === undefined ? {} : { seq }) })
    }
  })()

  const outage = outageOf(client, sessionKey, place)
  let late = 0
  const ask = async (): Promise<void> => {
    const view = await outage.answer(client.command<SessionView>('sessions.get', { sessionKey }))
    outage.over()
    if (view.quarantine)
      throw new RuntimeError('quarantined', `the session was quarantined: ${view.quarantine.message}`, {
        hint: `see '${hintCommand(place, 'trace', sessionKey)}', mend the cause, then '${hintCommand(place, 'revive', sessionKey)}'`,
      })
    if (view.run?.ids.includes(id)) run.runId = view.run.runId
    for (const approval of view.approvals)
      if (!heard.has(approval.callId)) {
        heard.add(approval.callId)
        run.hear({ path: '/', event: { type: 'approval', ...approval } })
      }
    // It has an outcome; its event may be on the way, so it gets one more round.
    if (view.run?.ids.includes(id) || view.queued.includes(id) || ++late <= 1) return
    const { seq, ...output } = await outage.answer(client.command<Outcome>('agent.wait', { sessionKey, runId: id, timeoutMs: waitMs }), waitMs)
    run.end(output, seq)
  }
  let asking = false
  const askAndGoOn = async (): Promise<void> => {
    asking = true
    try {
      await ask().catch(outage.endure)
      asking = false
      if (!stopped) keepAsking()
    } catch (error) {
      run.fail(error)
    }
  }
  const keepAsking = (): void => {
    timer = setTimeout(() => void askAndGoOn(), askEveryMs)
  }
  const askNow = (): void => {
    late = 1
    if (asking) return
    clearTimeout(timer)
    void askAndGoOn()
  }
  try {
    const begun = (await begin()) as Partial<Accepted>
    if (begun.status === 'duplicate') {
      late = 1
      await ask().catch(outage.endure)
    }
    if (!stopped) keepAsking()
    return { events: run.events(), outcome: run.result(), stop: () => run.fail(new RuntimeError('cancelled', 'no longer followed')) }
  } catch (error) {
    run.fail(error)
    throw error
  }
}
