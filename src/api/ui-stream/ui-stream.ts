/** The door for `useChat` of the AI SDK: a message in, its answer out as a UI message stream. See docs/reference/ui-stream.md. */

import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import { stream } from 'hono/streaming'
import { type Access, reaches } from '../../contracts/access.ts'
import type { Clock } from '../../contracts/environment.ts'
import type { GatewayScope } from '../../contracts/gateway.ts'
import { shownBody } from '../../contracts/redact.ts'
import type { Runtime } from '../../runtime/index.ts'
import { unknownSession } from '../access.ts'
import { heartbeat } from '../heartbeat.ts'
import { isOver, type Watched } from '../http/access-watch.ts'
import { requireScope } from '../scopes.ts'
import type { Reading } from './answer.ts'
import { Answers } from './answers.ts'
import { readRequest } from './request.rules.ts'
import type { UiPart } from './ui-part.ts'

/** @property enter counts an open stream, and watches its token, until it is left @property admit refuses new work @property closing aborts when streams have to end */
type UiDoor = {
  runtime: () => Runtime
  clock: Clock
  closing: AbortSignal
  enter(context: Context): Watched
  /** What the token of a request allows; undefined where that is everything. @throws RuntimeError unauthorised */
  accessOf(context: Context): Access | undefined
  admit(): void
}

const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
}

const broken: UiPart = { type: 'error', errorText: 'this node is shutting down; the answer goes on, and can be resumed' }

export const uiStream = (door: UiDoor) => {
  const answers = new Answers(door.runtime, door.clock)
  const write = (context: Context, { parts, close }: Reading, over: AbortController, watched: Watched): Response => {
    for (const [name, value] of Object.entries(headers)) context.header(name, value)
    return stream(context, async (out) => {
      const end = () => over.abort()
      // Whoever hangs up does not stop the answer.
      out.onAbort(end)
      door.closing.addEventListener('abort', end)
      watched.over.addEventListener('abort', end)
      if (door.closing.aborted || watched.over.aborted) end()
      const stopHeart = heartbeat(out, door.clock)
      const say = (part: UiPart) => out.write(`data: ${JSON.stringify(part)}\n\n`)
      try {
        // Each waits until the one before is on its way.
        for await (const part of parts) {
          if (isOver(watched)) break
          await say(part)
        }
        if (out.aborted) return
        if (isOver(watched)) await say({ type: 'error', errorText: shownBody(watched.over.reason).message })
        else if (over.signal.aborted) await say(broken)
        await out.write('data: [DONE]\n\n')
      } finally {
        stopHeart()
        door.closing.removeEventListener('abort', end)
        watched.over.removeEventListener('abort', end)
        close()
        watched.leave()
      }
    })
  }
  /** @param begin opens the answer: what it throws is answered with a status */
  const answerWith = async (context: Context, begin: (signal: AbortSignal) => Promise<Reading | undefined>): Promise<Response> => {
    const watched = door.enter(context)
    const over = new AbortController()
    try {
      const reading = await begin(over.signal)
      if (reading) return write(context, reading, over, watched)
    } catch (error) {
      watched.leave()
      throw error
    }
    watched.leave()
    return new Response(null, { status: 204 })
  }

  /** @returns whether the token reaches the session @throws RuntimeError forbidden */
  const mayReach = (context: Context, scope: GatewayScope, key: string): boolean => {
    const access = door.accessOf(context)
    if (access) requireScope(access.scopes, scope, context.req.path)
    return reaches(access, door.runtime().keyOf(key))
  }

  return {
    /** @param body the JSON that was posted */
    post: async (context: Context, body: unknown): Promise<Response> => {
      const request = readRequest(body)
      if (request.kind === 'message') {
        door.admit()
        const { sessionKey } = request.message
        if (!mayReach(context, 'write', sessionKey)) throw unknownSession(door.runtime().keyOf(sessionKey))
        return answerWith(context, async (signal) => (await answers.say(request.message)).read({ signal }))
      }
      if (request.kind === 'results') {
        const { messageId, results, input } = request
        door.admit()
        if (!mayReach(context, 'write', input.sessionKey)) throw unknownSession(door.runtime().keyOf(input.sessionKey))
        return answerWith(context, async (signal) => (await answers.give(results, input)).read({ messageId, signal }))
      }
      const { sessionKey, runId, decisions, asked } = request
      if (!mayReach(context, 'approve', sessionKey)) throw unknownSession(door.runtime().keyOf(sessionKey))
      return answerWith(context, async (signal) => {
        const answer = await answers.of(door.runtime().session(sessionKey), runId)
        // Before the decision: what follows from it is to be heard from its beginning.
        const reading = answer.read({ asked, decided: decisions.map(({ callId }) => callId), signal })
        try {
          await answers.decide(sessionKey, decisions)
          return reading
        } catch (error) {
          reading.close()
          throw error
        }
      })
    },
    resume: (context: Context, sessionKey: string): Promise<Response> => {
      // Nobody would read it, nor hang up.
      if (context.req.raw.method === 'HEAD') return Promise.resolve(new Response(null, { headers }))
      const mine = mayReach(context, 'read', sessionKey)
      return answerWith(context, async (signal) => (await answers.running(mine ? sessionKey : `nobody:${randomUUID()}`))?.read({ signal }))
    },
  }
}
