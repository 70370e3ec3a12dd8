/**
 * Room for turns: at most so many of one lane run on this node at once, first come, first served. A turn keeps its place until it has ended; after a crash
 * those that go on take theirs again.
 */
import { fromCallback } from 'xstate'
import { effect } from '../../actors/index.ts'
import type { Clock, Logger } from '../../contracts/environment.ts'
import type { LaneInput } from '../../contracts/turn.ts'

/** ms after which a turn that waits is reported. */
const longMs = 2_000

type Waiting = { enter(): void }

export class Lanes {
  readonly #limits: Readonly<Record<string, number>>
  readonly #busy = new Map<string, number>()
  readonly #waiting = new Map<string, Waiting[]>()

  /** @param limits how many may run at once, by lane; a lane that is not there has no limit */
  constructor(limits: Readonly<Record<string, number>>) {
    this.#limits = limits
  }

  /** @returns leaves the lane, or the line */
  enter(lane: string, waiting: Waiting): () => void {
    const line = this.#waiting.get(lane) ?? []
    this.#waiting.set(lane, line)
    line.push(waiting)
    this.#next(lane)
    let left = false
    return () => {
      if (left) return
      left = true
      const place = line.indexOf(waiting)
      if (place === -1) this.#busy.set(lane, this.busy(lane) - 1)
      else line.splice(place, 1)
      this.#next(lane)
    }
  }

  /** For one that is inside already, whether there is room or not. @returns leaves the lane */
  take(lane: string): () => void {
    this.#busy.set(lane, this.busy(lane) + 1)
    return () => {
      this.#busy.set(lane, this.busy(lane) - 1)
      this.#next(lane)
    }
  }

  busy(lane: string): number {
    return this.#busy.get(lane) ?? 0
  }

  /** How many are let in before this one. */
  ahead(lane: string, waiting: Waiting): number {
    return Math.max(0, this.#waiting.get(lane)?.indexOf(waiting) ?? 0)
  }

  #next(lane: string): void {
    const limit = Object.hasOwn(this.#limits, lane) ? (this.#limits[lane] ?? 0) : Number.POSITIVE_INFINITY
    const line = this.#waiting.get(lane) ?? []
    while (this.busy(lane) < limit && line.length > 0) {
      this.#busy.set(lane, this.busy(lane) + 1)
      line.shift()?.enter()
    }
  }
}

/** Turns that were inside when a process died come back one after the other; those that waited let them in first, for so long. */
const lettingInMs = 1_000

/** Says when there is room, and holds it until it is stopped, which nobody needs to wait for. A turn that has got in says so, for the case that all has to begin again. */
export const laneActor = ({ lanes, clock, log }: { lanes: Lanes; clock: Clock; log: Logger }) =>
  fromCallback<{ type: string }, LaneInput>(({ input: { session, runId, lane }, sendBack, receive, emit, self }) => {
    const since = clock.now()
    let leave: (() => void) | undefined
    let late: unknown
    const waiting: Waiting = {
      enter() {
        clock.clearTimeout(late)
        effect(self).waits(true)
        sendBack({ type: 'lane.granted', waitedMs: clock.now() - since })
      },
    }
    receive(() => {
      leave ??= lanes.take(lane)
      effect(self).waits(true)
    })
    const wait = (): void => {
      if (leave) return
      late = clock.setTimeout(() => {
        const facts = { runId, lane, waitedMs: clock.now() - since, ahead: lanes.ahead(lane, waiting) }
        log.warn({ session, ...facts }, 'a turn waits for room in its lane')
        emit({ type: 'waiting', ...facts })
      }, longMs)
      leave = lanes.enter(lane, waiting)
    }
    let timer: unknown
    if (effect(self).restarted) timer = clock.setTimeout(wait, lettingInMs)
    else wait()
    return () => {
      clock.clearTimeout(timer)
      clock.clearTimeout(late)
      leave?.()
    }
  })
