/** Finds or begins the session that a request belongs to, and says its message there. */
import { type Access, reaches } from '../../contracts/access.ts'
import type { ClientResult } from '../../contracts/client-tools.ts'
import { definedOf } from '../../contracts/defined.ts'
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import type { FileRef } from '../../contracts/file.ts'
import type { Run, Runtime, Session } from '../../runtime/index.ts'
import { unknownSession } from '../access.ts'
import type { Asked } from './asked.ts'
import type { Errands } from './errands.ts'
import { resultsFor } from './functions.ts'
import { isMadeHere, keyFor, newId, newKey, noResponse, parseResponseId, sessionHeader } from './names.ts'
import { toldText } from './told.ts'

/** What the headers of a request say. */
type Named = { sessionKey?: string | undefined; idempotencyKey?: string | undefined; access?: Access | undefined }

export type Said = {
  session: Session
  run: Run
  /** Nobody waits for the answer any more, or has all of it. */
  leave(): void
}

/** @property kept the session was there before, or is to stay @property pending results of the request are for calls that wait in the session */
type Place = { session: Session; text: string; kept: boolean; alone: boolean; id: string; pending: boolean }

export class Conversations {
  readonly #runtime: () => Runtime
  readonly #errands: Errands
  /** By session, what continues a response: whether it is the newest one is asked by one at a time. */
  readonly #continuing = new Map<string, Promise<unknown>>()

  constructor(runtime: () => Runtime, errands: Errands) {
    this.#runtime = runtime
    this.#errands = errands
  }

  /** Ids are made up easily, and a session has other spellings than the one by which it is judged. @throws RuntimeError not_found */
  #named(previous: string): { key: string; id: string } {
    const { key, id } = parseResponseId(previous)
    try {
      return { key: this.#runtime().keyOf(key), id }
    } catch {
      throw noResponse(previous)
    }
  }

  /** @throws RuntimeError whatever keeps the message from being accepted */
  async say(agent: string, asked: Asked, named: Named): Promise<Said> {
    if (asked.previous === undefined) return this.#send(this.#place(agent, asked, named), asked, named)
    const { key, id } = this.#named(asked.previous)
    // Found out as for one that is not there.
    if (!reaches(named.access, key)) await checkNewest(this.#runtime().session(`nobody:${newKey()}`), id, asked.previous)
    if (named.sessionKey !== undefined && this.#runtime().keyOf(named.sessionKey) !== key)
      throw new RuntimeError('bad_request', `the response is of another session than the header '${sessionHeader}' names`, {
        field: 'previous_response_id',
        hint: 'send one of the two',
      })
    const session = this.#runtime().session(key, { agent })
    const place: Place = {
      session,
      text: hereText(asked),
      kept: true,
      alone: isMadeHere(key),
      pending: asked.results.length > 0,
      id: named.idempotencyKey ?? newId(),
    }
    return this.#inTurn(key, async () => {
      if (named.idempotencyKey === undefined || !(await isKnown(session, place.id))) await checkNewest(session, id, asked.previous as string)
      return this.#send(place, asked, named)
    })
  }

  /** A new conversation, or the one that the header names. */
  #place(agent: string, asked: Asked, { sessionKey, idempotencyKey, access }: Named): Place {
    const id = idempotencyKey ?? newId()
    if (sessionKey !== undefined) {
      const session = this.#runtime().session(sessionKey, { agent })
      if (!reaches(access, session.key)) throw unknownSession(session.key)
      // What was said before stands there already.
      return { session, text: toldText([], asked.text, asked.field), kept: true, alone: false, id, pending: asked.results.length > 0 }
    }
    const text = toldText(asked.before, asked.text, asked.field)
    const wishes = [asked.tools.length > 0 ? asked.tools : undefined, asked.choice, asked.format].flatMap((wish) =>
      wish === undefined ? [] : [JSON.stringify(wish)],
    )
    const said = [text, ...asked.files.map(({ content }) => content), ...wishes].join('\n')
    const key = idempotencyKey === undefined ? newKey(access) : keyFor([asked.field, agent, idempotencyKey, said], access)
    return { session: this.#runtime().session(key, { agent }), text, kept: asked.store, alone: true, id, pending: false }
  }

  async #send({ session, text, kept, alone, id, pending }: Place, asked: Asked, { idempotencyKey, access }: Named): Promise<Said> {
    const { thinking, files: given, tools, choice, format } = asked
    const toolResults = pending ? await waitingResults(session, id, asked) : undefined
    const files: FileRef[] = []
    for (const file of given) files.push(refOf(await this.#runtime().command<FileRef>('files.put', file, access)))
    // Each request has an answer of its own.
    const run = await session.send(text, {
      idempotencyKey: id,
      queueMode: 'followup',
      ...definedOf({
        thinking,
        toolResults,
        toolChoice: choice,
        format,
        clientTools: tools.length > 0 || toolResults ? tools : undefined,
        files: files.length === 0 ? undefined : files,
      }),
    })
    const leave = alone ? this.#errands.begin({ session, run, kept, repeatable: idempotencyKey !== undefined }) : () => undefined
    return { session, run, leave }
  }

  async #inTurn<T>(key: string, act: () => Promise<T>): Promise<T> {
    const before = this.#continuing.get(key)
    const acting = Promise.allSettled([before]).then(act)
    const next = acting.catch(() => undefined)
    this.#continuing.set(key, next)
    try {
      return await acting
    } finally {
      if (this.#continuing.get(key) === next) this.#continuing.delete(key)
    }
  }
}

/** What is added to a conversation that stands here: results go to the calls that wait. */
const hereText = ({ before, text, results, field }: Asked): string => {
  if (results.length === 0) return toldText(before, text, field)
  const rest = before.filter(({ role }) => role !== 'tool')
  return toldText(rest, text === '' && rest.length > 0 ? 'The tools have given their results: go on from there.' : text, field)
}

/** @throws RuntimeError bad_request where no call waits for one of them */
const waitingResults = async (session: Session, id: string, { results }: Asked): Promise<ClientResult[]> => {
  // A repetition is answered as the first, which has taken them.
  if (await isKnown(session, id)) return results.map(({ id: callId, output }) => ({ callId, output }))
  return resultsFor(results, (await session.view().catch(noneOf))?.pendingCalls)
}

const refOf = ({ id, mimeType, bytes, fileName }: FileRef): FileRef => ({ id, mimeType, bytes, fileName })

/** Whether a message was accepted before. */
const isKnown = async (session: Session, id: string): Promise<boolean> => {
  const view = await session.view().catch(noneOf)
  if (view?.run?.ids.includes(id) || view?.queued.includes(id)) return true
  return (await session.outcome(id).catch(noneOf)) !== undefined
}

/** @throws RuntimeError conflict where the conversation has gone on since, not_found */
const checkNewest = async (session: Session, id: string, response: string): Promise<void> => {
  const view = await session.view().catch(noneOf)
  if (view === undefined) throw noResponse(response)
  if (view.run?.ids.includes(id) || view.queued.includes(id)) throw notNewest(session, 'is still being made', 'wait for it', true)
  const outcome = await session.outcome(id).catch(noneOf)
  if (outcome === undefined) throw noResponse(response)
  const history = await session.history()
  const said = history.findLast(({ role }) => role === 'user')
  const answered = history.findLast(({ role }) => role === 'assistant')
  const isLast = history.at(-1) === answered && answered?.role === 'assistant' && answered.id.startsWith(`${outcome.runId}:`)
  const waits = view.pendingCalls?.[0]?.callId
  // Results of tools may have been answered since, which are no message of the user.
  const isNewest = outcome.pendingCalls
    ? outcome.pendingCalls[0]?.callId === waits
    : isLast || (said?.role === 'user' && outcome.ids.includes(said.id))
  if (view.run !== null || view.queued.length > 0 || !isNewest)
    throw notNewest(session, 'is not the newest one of its conversation', 'continue the newest response', false)
}

const notNewest = ({ key }: Session, what: string, cure: string, retryable: boolean): RuntimeError =>
  new RuntimeError('conflict', `the response ${what}`, {
    field: 'previous_response_id',
    hint: `${cure}, or go on in its conversation as it stands with the header '${sessionHeader}: ${key}'`,
    retryable,
    data: { openai: 'previous_response_not_newest' },
  })

const noneOf = (error: unknown): undefined => {
  if (!isRuntimeError(error) || error.code !== 'not_found') throw error
}
