/** The worker as the page asks it: each question has one answer. */
import { RuntimeError } from '../../../../src/contracts/errors.ts'
import type { Answers, Ask, FromWorker, StoredFrame, ToWorker } from '../fold/protocol.ts'

type Told = Exclude<FromWorker, { type: 'answer' | 'failed' }>

export class WorkerLink {
  readonly #worker: Worker
  readonly #pending = new Map<number, { resolve(value: never): void; reject(error: Error): void }>()
  #life = 0
  #asked = 0

  /** @param hear what is told of the journal that is open */
  constructor(hear: (told: Told) => void) {
    this.#worker = new Worker(new URL('../fold/worker.ts', import.meta.url), { type: 'module' })
    this.#worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.type === 'answer' || data.type === 'failed') {
        const pending = this.#pending.get(data.id)
        this.#pending.delete(data.id)
        if (data.type === 'answer') pending?.resolve(data.value as never)
        else pending?.reject(RuntimeError.from(data.error))
      } else if (data.life === this.#life) hear(data)
    }
  }

  open(kind: string, address: string): void {
    this.#say({ type: 'open', life: ++this.#life, kind, address })
  }

  frames(frames: readonly StoredFrame[]): void {
    this.#say({ type: 'frames', life: this.#life, frames })
  }

  ask<Question extends Ask>(ask: Question): Promise<Answers[Question['what']]> {
    const id = ++this.#asked
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      this.#say({ type: 'ask', life: this.#life, id, ask })
    })
  }

  #say(message: ToWorker): void {
    this.#worker.postMessage(message)
  }
}
