/** Reads and folds a journal beside the page, so that the page never stands still. */
import { errorBody } from '../../../../src/contracts/errors.ts'
import { bundledCharts } from './bundled.ts'
import { Opened, Overtaken } from './opened.ts'
import type { Ask, FromWorker, ToWorker } from './protocol.ts'

/** What a worker has of its global scope; the library of a page does not know it. */
type Scope = { postMessage(message: unknown): void; onmessage: ((event: MessageEvent<ToWorker>) => void) | null }
const scope = globalThis as unknown as Scope
const tell = (told: FromWorker): void => scope.postMessage(told)

let life = 0
let opened: Opened | undefined

const answer = (ask: Ask): unknown => {
  if (ask.what === 'charts') return bundledCharts()
  if (!opened) throw new Overtaken()
  if (ask.what === 'look') return opened.look(ask.seq, ask.before)
  if (ask.what === 'moment') return opened.moment(ask.seq)
  if (ask.what === 'detail') return opened.detail(ask.seq)
  return opened.text(ask.seq, ask.at)
}

scope.onmessage = ({ data }) => {
  if (data.type === 'open') {
    life = data.life
    opened = new Opened({ ...data, tell })
  } else if (data.type === 'frames') {
    if (data.life === life) opened?.take(data.frames)
  } else
    new Promise((resolve) => resolve(answer(data.ask))).then(
      (value) => tell({ type: 'answer', id: data.id, value }),
      (error: unknown) => tell({ type: 'failed', id: data.id, error: errorBody(error) }),
    )
}
