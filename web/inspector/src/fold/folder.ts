/** The page's end of the worker. */
import type { Asked, Indexed, Look, Request, Response, StoredFrame } from './messages.ts'

type Waiting = { resolve(answer: unknown): void; reject(error: unknown): void }

export class Folder {
  readonly #worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
  readonly #waiting = new Map<number, Waiting>()
  #last = 0

  constructor() {
    this.#worker.addEventListener('message', ({ data }: MessageEvent<Response>) => {
      const waiting = this.#waiting.get(data.id)
      this.#waiting.delete(data.id)
      if (data.ok) waiting?.resolve(data.answer)
      else waiting?.reject(Object.assign(new Error(data.error.message), data.error))
    })
  }

  open = (address: string): Promise<unknown> => this.#ask({ type: 'open', address })
  take = (address: string, frames: StoredFrame[]): Promise<Indexed> => this.#ask({ type: 'frames', address, frames }) as Promise<Indexed>
  /** Undefined where the page does not have the machine: then the node is asked. */
  look = (address: string, seq: number): Promise<Look | undefined> => this.#ask({ type: 'look', address, seq }) as Promise<Look | undefined>

  #ask(asked: Asked): Promise<unknown> {
    const id = ++this.#last
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#waiting.set(id, { resolve, reject })
    this.#worker.postMessage({ ...asked, id } satisfies Request)
    return promise
  }
}
