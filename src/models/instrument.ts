/** The fail points of a model call, in one place for every provider. */
import { definedOf } from '../contracts/defined.ts'
import { type FailPoint, type FailPoints, noFailPoints } from '../contracts/environment.ts'
import type { Model, ModelDelta } from '../contracts/model.ts'

/**
 * K06 once the call has begun, before any token; K07 after the first delta; K08 when the answer is complete, before the caller has it.
 * A fail point that takes its time holds back what comes after it, so that a test can look at the moment in between.
 */
export const instrument = (model: Model, failPoints: FailPoints): Model =>
  // In production there are none, and every delta would pass through here.
  failPoints === noFailPoints ? model : withFailPoints(model, failPoints)

const withFailPoints = (model: Model, failPoints: FailPoints): Model => ({
  ref: model.ref,
  ...definedOf({ contextTokens: model.contextTokens, info: model.info, accepts: model.accepts }),
  call: async (request, { signal, onDelta }) => {
    const gate = new Gate(failPoints, onDelta)
    const answer = model.call(request, { signal, onDelta: (delta) => gate.pass(delta) })
    // It may fail while K06 is still held, before the caller awaits it.
    answer.catch(() => undefined)
    const opened = gate.open()
    if (opened !== undefined) await opened
    const response = await answer
    if (gate.held !== undefined) await gate.held
    const done = failPoints.hit('K08')
    if (done !== undefined) await done
    return response
  },
})

/** Deltas pass through it; while a fail point holds, they queue up (the answer itself is bounded, hence so is the queue). */
class Gate {
  private readonly failPoints: FailPoints
  private readonly onDelta: (delta: ModelDelta) => void
  private closed = true
  private first = true
  private readonly waiting: ModelDelta[] = []
  /** Set while a fail point in mid-stream holds. */
  held: Promise<void> | undefined

  constructor(failPoints: FailPoints, onDelta: (delta: ModelDelta) => void) {
    this.failPoints = failPoints
    this.onDelta = onDelta
  }

  /** Passes K06, then lets deltas through. */
  open(): Promise<void> | undefined {
    return this.hold('K06')
  }

  pass(delta: ModelDelta): void {
    if (this.closed) {
      this.waiting.push(delta)
      return
    }
    this.onDelta(delta)
    if (!this.first) return
    this.first = false
    const held = this.hold('K07')
    if (held === undefined) return
    this.held = held
    // The caller that awaits the response sees the failure there.
    held.catch(() => undefined)
  }

  private hold(name: FailPoint): Promise<void> | undefined {
    this.closed = true
    const hit = this.failPoints.hit(name)
    if (hit !== undefined) return hit.then(() => this.release())
    this.release()
    return undefined
  }

  private release(): void {
    this.closed = false
    while (!this.closed) {
      const delta = this.waiting.shift()
      if (delta === undefined) return
      this.pass(delta)
    }
  }
}
