/** Charts laid out once for each machine, in a worker: it depends on the machine alone. */
import ELK from 'elkjs/lib/elk-api.js'
import workerUrl from 'elkjs/lib/elk-worker.min.js?url'
import { type Chart, type Elk, type Level, type PlacedChart, placeChart } from '../../../../src/actors/index.ts'

/** A layout that takes longer is given up, and the states are listed. */
const limitMs = 20_000
const laid = new Map<string, Promise<PlacedChart>>()
let elk: Elk | undefined

const within = <T>(work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the layout took too long')), limitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })

export const layout = (signature: string, chart: Chart, level: Level): Promise<PlacedChart> => {
  const name = `${signature} ${level}`
  elk ??= new (ELK as unknown as new (options: { workerUrl: string }) => Elk)({ workerUrl })
  const known = laid.get(name) ?? within(placeChart(elk, chart, level))
  laid.set(name, known)
  return known
}
