/**
 * The agents of a node for clients of OpenAI's API: an agent is a model, a request is a message to a session. What is mapped to what:
 * docs/reference/openai.md.
 */
import { type Context, Hono } from 'hono'
import type { Clock, Logger } from '../../contracts/environment.ts'
import { errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import type { GatewayScope } from '../../contracts/gateway.ts'
import { shownBody } from '../../contracts/redact.ts'
import type { TurnOutput } from '../../contracts/turn.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { Watched } from '../http/access-watch.ts'
import { bodyOf, largeBytesMax } from '../http/body.ts'
import type { Caller } from '../http/guard.ts'
import { requireScope } from '../scopes.ts'
import { allPieces, livePieces, type Piece } from './answer.ts'
import type { Asked } from './asked.ts'
import { chatChunks, chatCompletion } from './chat-answer.ts'
import { chatRequest } from './chat-request.ts'
import { Conversations, type Said } from './conversation.ts'
import { Errands } from './errands.ts'
import { type OpenAiError, openAiError } from './error.ts'
import { checkedIdempotencyKey, checkedKey, nameOf, responseIdOf, sessionHeader } from './names.ts'
import { type ResponseEvent, responseEvents } from './responses-answer.ts'
import { responsesRequest } from './responses-request.ts'
import { type Frame, frames } from './sse.ts'
import { whileWanted } from './wanted.ts'

type OpenAiOptions = {
  runtime: () => Runtime
  log: Logger
  clock: Clock
  /** Aborts when answers have to end. */
  closing: AbortSignal
  /** @throws RuntimeError closed where no new work is taken */
  admit: () => void
  /** Counts an answer that is being made, and watches its token, until it is left. @throws RuntimeError rate_limited */
  occupy: (caller: Caller) => Watched
}

/** What the gateway knows of a caller before it comes here. */
type Env = { Variables: { caller: Caller } }

/** @property pieces what is said, as long as the client waits for it */
type Answering = Said & { pieces: AsyncGenerator<Piece, TurnOutput>; created: number; over(): void }

export const openAiRoutes = ({ runtime, log, clock, closing, admit, occupy }: OpenAiOptions): Hono<Env> => {
  const app = new Hono<Env>()
  const conversations = new Conversations(runtime, new Errands({ runtime, clock, log, closing }))
  const startedAt = seconds(clock)

  const agents = async (): Promise<string[]> => {
    const listed = await runtime().command<{ agents: { name: string }[] }>('agents.list')
    return listed.agents.map(({ name }) => name)
  }
  /** @throws RuntimeError not_found */
  const agentOf = async (model: string): Promise<string> => {
    const names = await agents()
    const name = model.replace(/^agent:/, '')
    if (names.includes(name)) return name
    throw new RuntimeError('not_found', `there is no model '${model.slice(0, 80)}'`, {
      field: 'model',
      hint: `a model is an agent of this node: ${names.join(', ')}`,
      data: { openai: 'model_not_found' },
    })
  }
  const shown = (error: unknown): OpenAiError => {
    if (!isRuntimeError(error)) log.error({ error: errorBody(error) }, 'an answer failed')
    return openAiError(shownBody(error)).shown
  }

  /** What the token of a request allows. @throws RuntimeError forbidden, unauthorised */
  const allowed = (context: Context<Env>, scope: GatewayScope) => {
    const access = context.get('caller').access?.()
    if (access) requireScope(access.scopes, scope, context.req.path)
    return access
  }
  /** @throws RuntimeError where the message was not accepted */
  const answer = async (context: Context<Env>, asked: Asked): Promise<Answering> => {
    admit()
    const agent = await agentOf(asked.model)
    const named = {
      sessionKey: checkedKey(context.req.header(sessionHeader)),
      idempotencyKey: checkedIdempotencyKey(context.req.header('idempotency-key')),
      access: allowed(context, 'write'),
    }
    const watched = occupy(context.get('caller'))
    try {
      const said = await conversations.say(agent, asked, named)
      const { session, run } = said
      const pieces = asked.stream ? livePieces(session, run) : allPieces(session, run, asked.format !== undefined)
      context.header(sessionHeader, session.key)
      const over = () => {
        said.leave()
        watched.leave()
      }
      return { ...said, pieces: whileWanted(pieces, { gone: context.req.raw.signal, closing, watched }), created: seconds(clock), over }
    } catch (error) {
      watched.leave()
      throw error
    }
  }
  /** All of an answer, which the client waits for. */
  const whole = async (context: Context<Env>, { over }: Answering, make: () => Promise<object>): Promise<Response> => {
    try {
      return context.json(await make(), 200, { 'cache-control': 'no-store' })
    } finally {
      over()
    }
  }

  const modelOf = (id: string) => ({ id, object: 'model', created: startedAt, owned_by: 'statecast' })
  app.get('/v1/models', async (context) => {
    allowed(context, 'read')
    return context.json({ object: 'list', data: (await agents()).map(modelOf) })
  })
  app.get('/v1/models/:id', async (context) => {
    allowed(context, 'read')
    const id = context.req.param('id')
    await agentOf(id)
    return context.json(modelOf(id))
  })

  app.post('/v1/chat/completions', async (context) => {
    const asked = chatRequest(await bodyOf(context.req.raw, largeBytesMax, { exact: false }), isNamed(context))
    const answering = await answer(context, asked)
    const { session, run, pieces, created } = answering
    const facts = { id: nameOf('chatcmpl-', session.key, run.id), created, model: asked.model, usage: asked.usage }
    if (!asked.stream) return whole(context, answering, () => chatCompletion(facts, pieces))
    return frames(context, clock, dataOf(chatChunks(facts, pieces, shown)), answering.over)
  })

  app.post('/v1/responses', async (context) => {
    const asked = responsesRequest(await bodyOf(context.req.raw, largeBytesMax, { exact: false }), isNamed(context))
    const answering = await answer(context, asked)
    const { session, run, pieces, created } = answering
    const { model, store, previous, instructions, effort, given } = asked
    const facts = { id: responseIdOf(session.key, run.id), created, model, store, previous, instructions, effort, given }
    if (asked.stream) return frames(context, clock, namedOf(responseEvents(facts, pieces, shown)), answering.over)
    return whole(context, answering, () => lastResponse(responseEvents(facts, pieces, rethrow)))
  })
  return app
}

const isNamed = (context: Context<Env>): boolean => context.req.header(sessionHeader) !== undefined

const seconds = (clock: Clock): number => Math.floor(clock.now() / 1000)

async function* dataOf(source: AsyncGenerator<string>): AsyncGenerator<Frame> {
  for await (const data of source) yield { data }
}

async function* namedOf(source: AsyncGenerator<ResponseEvent>): AsyncGenerator<Frame> {
  for await (const event of source) yield { event: event.type, data: JSON.stringify(event) }
}

/** What all events have made in the end. */
const lastResponse = async (events: AsyncGenerator<ResponseEvent>): Promise<object> => {
  let last: ResponseEvent | undefined
  for await (const event of events) last = event
  return last?.response as object
}

/** Nothing has been sent yet: the answer is an error with its status. */
const rethrow = (error: unknown): never => {
  throw error
}
