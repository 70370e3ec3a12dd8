/** Gives the statechart of one prompt its effects: the session that answers, the caller who reads and is asked. */
import { randomBytes, randomUUID } from 'node:crypto'
import { createActor, fromPromise } from 'xstate'
import type { CommandInput } from '../../contracts/commands.ts'
import { actorClock } from '../../contracts/environment.ts'
import { type ErrorBody, errorBody, isRuntimeError } from '../../contracts/errors.ts'
import { shownBody } from '../../contracts/redact.ts'
import type { Approval, TurnOutput } from '../../contracts/turn.ts'
import { answerText, type Parts, type RunEvent, type Session } from '../../runtime/index.ts'
import { errorHeaders } from '../nats/micro-service.ts'
import { promptIn, protocolStatus } from './agent-request.ts'
import { type PromptDecision, promptMachine } from './prompt.machine.ts'

/** Characters of a chunk: each may become six bytes of JSON, and the message has to fit. */
const chunkCharsMax = 100_000
/** Characters of a call's arguments that a caller is shown. */
const inputCharsMax = 2_000
const messageCharsMax = 4_000

const encoder = new TextEncoder()
const encode = (body: object): Uint8Array => encoder.encode(JSON.stringify(body))
const json = { 'Content-Type': 'application/json' }

type Caller = { chunk(type: 'status' | 'response' | 'query', data: unknown): void; error(error: ErrorBody): void; end(): void }

/** The reply stream of one request. A caller that wants no answer gets none. */
export const callerOf = ({ transport, environment }: Pick<Parts, 'transport' | 'environment'>, reply: string | undefined): Caller => {
  const send = (data: Uint8Array, headers?: Record<string, string>): void => {
    if (reply === undefined) return
    try {
      transport.bus.publish(reply, data, headers)
    } catch (error) {
      if (isRuntimeError(error) && error.code === 'too_large') throw error
      // The turn goes on, and is there to be asked for.
      environment.log.warn({ error: errorBody(error) }, 'a caller of an agent could not be answered')
    }
  }
  return {
    chunk: (type, data) => send(encode({ type, data }), json),
    error: (error) => {
      const { code, message, hint, retryable, field } = error
      // Not its data, which may hold all that was said.
      const body = { error: code, message: message.slice(0, messageCharsMax), hint, retryable, field }
      send(encode(body), { ...json, ...errorHeaders(error, protocolStatus(error)) })
    },
    end: () => send(new Uint8Array()),
  }
}

/** Says something in a session and follows it to its outcome, as every client does. */
export type Follow = (message: CommandInput<'chat.send'>) => Promise<{ events: AsyncIterable<RunEvent>; outcome: Promise<TurnOutput> }>

/** @param text the prompt @param id under which it is said once @returns how it ended, when the stream has ended */
export const answerPrompt = (
  { transport, environment, subjects }: Pick<Parts, 'transport' | 'environment' | 'subjects'>,
  session: Session,
  caller: Caller,
  { text, id, agent, follow }: { text: string; id?: string | undefined; agent: string; follow: Follow },
): Promise<ErrorBody | undefined> => {
  const { clock, log } = environment
  const ended = Promise.withResolvers<ErrorBody | undefined>()
  /** Where the caller answers, by call. */
  const questions = new Map<string, () => void>()
  let failure: ErrorBody | undefined

  const say = (piece: string): void => {
    for (let at = 0; at < piece.length; at += chunkCharsMax) caller.chunk('response', piece.slice(at, at + chunkCharsMax))
    if (piece !== '') actor.send({ type: 'said' })
  }
  const waits = (approval: Approval): void => actor.send({ type: 'approval', approval })

  const answer = async (): Promise<void> => {
    const { events, outcome } = await follow({ sessionKey: session.key, agent, message: text, idempotencyKey: id ?? environment.ids.next('m') })
    const answered = answerText()
    const hear = (event: RunEvent): void => {
      if (event.type === 'delta') say(answered.delta(event))
      else if (event.type === 'approval') waits(event)
      else if (event.type === 'decided') actor.send({ type: 'decided', callId: event.callId })
      else if (event.type === 'final') say(answered.rest([event.text]))
    }
    for await (const event of events) hear(event)
    await outcome
  }

  const decide = async ({ approval, decision }: PromptDecision): Promise<void> => {
    try {
      await session.decide(approval, decision, 'agent protocol')
    } catch (error) {
      const body = shownBody(error)
      if (body.code !== 'already_decided') actor.send({ type: 'undecided', callId: approval.callId, error: body })
    }
  }

  const ask = (approval: Approval, why: string | undefined): void => {
    questions.get(approval.callId)?.()
    // Nobody who does not get the question can answer it.
    const subject = subjects.answer(randomBytes(16).toString('hex'))
    const stop = transport.bus.subscribe(subject, ({ data }) => {
      stop()
      actor.send({ type: 'reply', callId: approval.callId, text: wordIn(data) })
    })
    questions.set(approval.callId, stop)
    caller.chunk('query', { id: randomUUID(), reply_subject: subject, prompt: `${why === undefined ? '' : `${why}: `}${question(approval)}` })
  }

  const machine = promptMachine.provide({
    actors: { answer: fromPromise(answer), decide: fromPromise(({ input }: { input: PromptDecision }) => decide(input)) },
  })
  const actor = createActor(machine, {
    clock: actorClock(clock),
  })
  actor.on('ack', () => caller.chunk('status', 'ack'))
  actor.on('question', ({ approval, why }) => {
    try {
      ask(approval, why)
    } catch (error) {
      // It can be decided elsewhere.
      log.warn({ error: errorBody(error) }, 'a caller of an agent could not be asked')
    }
  })
  actor.on('question.over', ({ callId }) => {
    questions.get(callId)?.()
    questions.delete(callId)
  })
  actor.on('error', ({ error }) => {
    failure = error
    caller.error(error)
  })
  actor.on('end', () => {
    caller.end()
    ended.resolve(failure)
  })
  actor.subscribe({ error: (error) => log.error({ error: errorBody(error) }, 'a prompt failed') })
  actor.start()
  return ended.promise
}

/** An answer that cannot be read is neither yes nor no. */
const wordIn = (data: Uint8Array): string => {
  try {
    return promptIn(data)
  } catch {
    return ''
  }
}

const question = ({ name, input, why }: Approval): string => {
  const shown = JSON.stringify(input)
  const call = `${name} ${shown.length > inputCharsMax ? `${shown.slice(0, inputCharsMax)}… (${shown.length} characters in all)` : shown}`
  return why === 'in_doubt' ? `Nobody knows whether this ran: ${call}. Shall it run again? (yes/no)` : `May this run: ${call}? (yes/no)`
}
