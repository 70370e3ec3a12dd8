/** Clients as they ought to be: a message is repeated under its id until there is a receipt, and what is known is noted before going on. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Note } from './traces.ts'

type Refusal = { code: string; message: string; retryable?: boolean }
export class Refused extends Error {
  readonly code: string
  readonly retryable: boolean
  constructor({ code, message, retryable = false }: Refusal) {
    super(`${code}: ${message}`)
    this.code = code
    this.retryable = retryable
  }
}

export const prefix = 'chaos'
const requestMs = 10_000
const waitMs = 2_000
const pauseMs = 100

/** One command over the front door, by the plain client. @throws Refused */
export const ask = async <T>(nc: NatsConnection, command: string, input: object, timeoutMs = requestMs): Promise<T> => {
  const { data, headers } = await nc.request(`${prefix}.api.${command}`, JSON.stringify(input), { timeout: timeoutMs }).catch((error: Error) => {
    throw new Refused({ code: 'unanswered', message: String(error), retryable: true })
  })
  const body = JSON.parse(new TextDecoder().decode(data)) as T
  if (headers?.get('Nats-Service-Error')) throw new Refused((body as { error: Refusal }).error)
  return body
}

export type Load = {
  nc: NatsConnection
  sessions: number
  random: () => number
  /** ms between an answer and the next message, at most. */
  thinkMs: number
  /** Turns after which a client begins a new conversation, so that none grows without bound. */
  turnsPerSession: number
  notes: Note[]
}

/** Keeps sessions busy. @returns to be called when it is enough; resolves when every message has its answer */
export const startLoad = (load: Load): (() => Promise<void>) => {
  let endedAt: number | undefined
  const clients = Array.from({ length: load.sessions }, (_, index) => runClient(load, `s${index}`, () => endedAt))
  const all = Promise.all(clients)
  all.catch(() => undefined)
  return async () => {
    endedAt = Date.now()
    await all
  }
}

/** How long a message may remain unanswered once nothing more is done to anybody: then its client gives up, which is a finding. */
const patienceMs = 90_000

const runClient = async ({ nc, random, thinkMs, turnsPerSession, notes }: Load, name: string, endedAt: () => number | undefined): Promise<void> => {
  await sleep(random() * thinkMs)
  const patient = () => Date.now() < (endedAt() ?? Infinity) + patienceMs
  for (let count = 0; endedAt() === undefined; count++) {
    const session = `${name}-${Math.floor(count / turnsPerSession)}`
    const client = clientOf(nc, session, notes, patient)
    const ids = [`${session}-m${count}`]
    const words = `${random() < 0.8 ? 'work' : 'just talk'} ${count}`
    const steers = random() < 0.2
    const agrees = random() < 0.5
    const posts = random() < 0.2
    try {
      await (posts ? client.post(ids[0]!, words) : client.say(ids[0]!, words))
      if (steers) {
        await sleep(random() * 150)
        ids.push(`${session}-m${count}b`)
        await client.say(ids[1]!, `${random() < 0.5 ? 'work' : 'also'} ${count}b`)
      }
      for (const id of ids) await client.hear(id, agrees)
    } catch (error) {
      notes.push({ session, at: Date.now(), what: 'refused', id: ids.at(-1)!, code: `GIVEN UP: ${String(error)}` })
    }
    await sleep(random() * thinkMs)
  }
}

const clientOf = (nc: NatsConnection, session: string, notes: Note[], patient: () => boolean) => {
  const note = (what: Note['what'], id: string, more: Partial<Note> = {}) => void notes.push({ session, at: Date.now(), what, id, ...more })
  const refused = async (id: string, error: unknown): Promise<void> => {
    if (!(error instanceof Refused)) throw error
    note('refused', id, { code: error.code, text: error.message })
    if (!error.retryable || !patient()) throw error
    await sleep(pauseMs)
  }

  const say = async (id: string, message: string): Promise<void> => {
    for (;;) {
      note('sent', id)
      try {
        const { seq, status } = await ask<{ seq: number; status: string }>(nc, 'chat.send', { sessionKey: session, message, idempotencyKey: id })
        return note('acked', id, { seq, status })
      } catch (error) {
        await refused(id, error)
      }
    }
  }

  /** As somebody who only has a subject does it: stored by the server, delivered when the session takes it. */
  const post = async (id: string, text: string): Promise<void> => {
    for (;;) {
      note('sent', id)
      try {
        const body = JSON.stringify({ type: 'message', text, id, queueMode: 'followup' })
        const { data } = await nc.request(`${prefix}.in.session.${session}`, body, { timeout: requestMs }).catch((error: Error) => {
          throw new Refused({ code: 'unanswered', message: String(error), retryable: true })
        })
        const { error } = JSON.parse(new TextDecoder().decode(data)) as { error?: { description: string } }
        if (error) throw new Refused({ code: 'not stored', message: error.description, retryable: true })
        return note('acked', id)
      } catch (error) {
        await refused(id, error)
      }
    }
  }

  const decide = async (agrees: boolean): Promise<void> => {
    const { approvals } = await ask<{ approvals: { callId: string; inputHash: string; attempt: number }[] }>(nc, 'approvals.list', {
      sessionKey: session,
    })
    for (const { callId, inputHash, attempt } of approvals) {
      note('deciding', callId)
      await ask(nc, 'approvals.resolve', { sessionKey: session, callId, inputHash, attempt, decision: agrees ? 'approve' : 'deny' }).catch(
        (error: Refused) => {
          // Whose answer was lost is told so when it is said again.
          if (error.code !== 'already_decided') throw error
        },
      )
      note('decided', callId, { status: agrees ? 'approve' : 'deny' })
    }
  }

  const hear = async (id: string, agrees: boolean): Promise<void> => {
    for (;;) {
      try {
        const { status, text } = await ask<{ status: string; text: string }>(
          nc,
          'agent.wait',
          { sessionKey: session, runId: id, timeoutMs: waitMs },
          waitMs + requestMs,
        )
        return note('answered', id, { status, text })
      } catch (error) {
        // Nobody has an answer yet: perhaps a call is in doubt, and we are asked about it.
        if (error instanceof Refused && error.code === 'timeout') await decide(agrees).catch((reason) => refused(id, reason))
        // What was posted may still be on its way.
        else if (error instanceof Refused && error.code === 'not_found') await sleep(pauseMs)
        else await refused(id, error)
        if (!patient()) throw error
      }
    }
  }
  return { say, post, hear }
}
