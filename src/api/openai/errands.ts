/** The requests that nobody but their client watches: the effects of their chart. */
import { type Actor, createActor, fromCallback, fromPromise } from 'xstate'
import { actorClock, type Clock, type Logger } from '../../contracts/environment.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import type { Run, Runtime, Session } from '../../runtime/index.ts'
import { errandMachine } from './errand.machine.ts'

type ErrandParts = { runtime: () => Runtime; clock: Clock; log: Logger; closing: AbortSignal }

type Errand = {
  session: Session
  run: Run
  /** The client repeats a request that gets lost: it may come back for the answer. */
  repeatable: boolean
  /** The session was there before, or is to stay. */
  kept: boolean
}

const patienceMs = 30_000
const keepMs = 600_000

const note = 'this request came over the OpenAI-compatible API, where nobody can approve a tool call'

export class Errands {
  readonly #parts: ErrandParts
  readonly #open = new Map<string, Actor<typeof errandMachine>>()

  constructor(parts: ErrandParts) {
    this.#parts = parts
    // What was accepted goes on at the next start.
    parts.closing.addEventListener('abort', () => {
      for (const actor of this.#open.values()) actor.stop()
      this.#open.clear()
    })
  }

  /** Somebody waits for an answer. @returns what to call when nobody does any more, and all of it has been read */
  begin(errand: Errand): () => void {
    if (this.#parts.closing.aborted) return () => undefined
    const name = JSON.stringify([errand.session.key, errand.run.id])
    const known = this.#open.get(name)
    // The session of one that is being deleted will not be there any more: this request begun another one.
    const leaves = known?.getSnapshot().matches('removing') || known?.getSnapshot().matches('pausing')
    const actor = known === undefined || leaves ? this.#start(name, errand) : known
    if (actor === known) actor.send({ type: 'joined' })
    return () => {
      if (actor.getSnapshot().status === 'active') actor.send({ type: 'left' })
    }
  }

  #start(name: string, { session, run, repeatable, kept }: Errand): Actor<typeof errandMachine> {
    const { runtime, clock, log } = this.#parts
    const machine = errandMachine.provide({
      actors: {
        wait: fromPromise(async () => {
          await run.result()
        }),
        listen: fromCallback(({ sendBack }) => {
          const stop = new AbortController()
          const hear = async (): Promise<void> => {
            for await (const event of session.events({ signal: stop.signal })) if (event.type === 'approval') sendBack({ type: 'approval' })
          }
          // Where too much was said at once, the looks that are taken anyway do.
          hear().catch(() => undefined)
          return () => stop.abort()
        }),
        deny: fromPromise(async () => {
          const { approvals } = await session.view()
          for (const approval of approvals) await session.deny(approval, { by: 'openai', note }).catch(unlessDecided)
        }),
        stop: fromPromise(() => run.cancel()),
        remove: fromPromise(async () => {
          await runtime().command('sessions.delete', { sessionKey: session.key }).catch(unlessGone)
        }),
      },
    })
    const actor = createActor(machine, {
      input: { patienceMs: repeatable ? patienceMs : 0, keepMs: kept ? null : repeatable ? keepMs : 0 },
      clock: actorClock(clock),
    })
    actor.on('stays', () => log.warn({ actor: `session/${session.key}` }, 'the session of a request could not be deleted'))
    actor.subscribe({
      complete: () => {
        if (this.#open.get(name) === actor) this.#open.delete(name)
      },
    })
    this.#open.set(name, actor)
    return actor.start()
  }
}

const unlessDecided = (error: unknown): void => {
  if (!isRuntimeError(error) || (error.code !== 'already_decided' && error.code !== 'not_found')) throw error
}

const unlessGone = (error: unknown): void => {
  if (!isRuntimeError(error) || error.code !== 'not_found') throw error
}
