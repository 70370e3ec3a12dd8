/** What a turn tells, in one order: words of its session, and between them all that is told by what runs in it, wherever that is. */
import type { Address, Runtime } from '../../index.ts'
import type { LadderEvent } from '../envelope.ts'
import { heardOf } from '../heard.ts'
import type { Decision } from '../supervisor/supervisor.context.ts'

type Hear = (told: LadderEvent) => void
/** @property id of the request @property placed the run of its turn, where that was begun before */
type Followed = {
  runtime: Runtime
  session: Address
  turnKind: string
  id: string
  placed?: string
  turnIndex?: number
  hear: Hear
  signal: AbortSignal
}

/** Listens from the moment of this call on. */
export const followTurn = async ({ runtime, session, turnKind, id, placed, turnIndex, hear, signal }: Followed): Promise<void> => {
  const words = runtime.actor(session.kind, session.id).events({ signal })
  const place = { sessionId: session.id, ...(turnIndex !== undefined && { turnIndex }) }
  const follow = (turnRunId: string) =>
    new TurnFeed(runtime, { address: { kind: turnKind, id: turnRunId }, rootRunId: id }, (told) => {
      hear(told)
      const said = saidOf(told, turnRunId)
      if (said) hear({ ...said, runId: id, rootRunId: id, ...place })
    })
  let turn = placed === undefined ? undefined : follow(placed)
  try {
    for await (const { event } of words) {
      if (event.runId !== id) continue
      if (event.type !== 'turn.placed' && !event.type.startsWith('orchestrator.')) continue
      // All that was told in the turn comes before what its session says of it.
      await turn?.end()
      turn = event.type === 'turn.placed' ? follow(event.turnRunId as string) : undefined
      Object.assign(place, typeof event.turnIndex === 'number' && { turnIndex: event.turnIndex })
      if (event.type !== 'turn.placed') hear(event as LadderEvent)
    }
  } finally {
    await turn?.end()
  }
}

/** Where a turn was routed to, and what those say who work in it. */
const saidOf = (told: LadderEvent, turnRunId: string): ({ type: string } & Record<string, unknown>) | undefined => {
  if (told.type === 'supervisor.router.decided' && told.runId === turnRunId) {
    const { source, raw, next, reasoning } = told.decision as Decision
    const isChosen = source === 'route' || source === 'router'
    return { type: 'orchestrator.turn.routed', source: isChosen ? source : 'intent.next', raw, next, ...(reasoning !== undefined && { reasoning }) }
  }
  if (told.type === 'agent.trip.streaming' && told.kind === 'text' && !aside.test(told.runId.slice(turnRunId.length)))
    return { type: 'orchestrator.turn.streaming', delta: told.delta }
  return undefined
}

/** In the name of a run: not what was dispatched has it asked, but who chooses, classifies, acknowledges, evaluates or plans. No intent or step has such a name. */
const aside = /\/[a-z]+\(\)\//

/** The run of one turn, from its beginning. */
class TurnFeed {
  readonly #runtime: Runtime
  readonly #address: Address
  readonly #rootRunId: string
  readonly #hear: Hear
  readonly #live: ReturnType<Runtime['events']>
  readonly #reading: Promise<void>
  #place = '0.0'
  #isOver = false

  constructor(runtime: Runtime, { address, rootRunId }: { address: Address; rootRunId: string }, hear: Hear) {
    this.#runtime = runtime
    this.#address = address
    this.#rootRunId = rootRunId
    this.#hear = hear
    this.#live = runtime.events(address, this.#place)
    this.#reading = this.#read(this.#live)
  }

  /** Resolves when all was heard that it has told by now. */
  async end(): Promise<void> {
    this.#live.end()
    await this.#reading
    if (this.#isOver) return
    // Something was lost on the way from another node: it stands in the journal.
    try {
      const rest = this.#runtime.events(this.#address, this.#place)
      rest.end()
      await this.#read(rest)
    } catch {
      // The runtime has ended.
    }
  }

  async #read({ events }: ReturnType<Runtime['events']>): Promise<void> {
    try {
      for await (const { path: _, seq, part = 0, birth, ...told } of events) {
        if (seq !== undefined) this.#place = [seq, part, ...(birth === undefined ? [] : [birth])].join('.')
        const event = heardOf(told, this.#rootRunId)
        if (!event) continue
        if (event.runId === this.#address.id && ends.has(event.type)) this.#isOver = true
        this.#hear(event)
      }
    } catch {
      // Whoever is too slow misses some of it.
    }
  }
}
const ends = new Set(['supervisor.completed', 'supervisor.error', 'supervisor.cancelled'])
