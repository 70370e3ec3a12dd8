/** Costs on purpose (`--plant cpu`) that the gate must catch. They come on top of what the working tree costs. */
import type { Transport } from '../../src/index.ts'
import { allocatedBytes, cpuMicroseconds } from './meter.ts'

export const plants = ['cpu', 'allocation', 'commit'] as const
export type PlantKind = (typeof plants)[number]
/** @property share 0.15 for 15 % more CPU time or allocation in each slice; `commit` is one more append a turn */
export type Plant = { kinds: readonly PlantKind[]; share: number }

/** @param before the meter before the work @returns when the process has spent that share of the work once more */
export const burnMore = (before: number, share: number): void => {
  const until = cpuMicroseconds() * (1 + share) - before * share
  while (cpuMicroseconds() < until);
}

let latest: number[] = []

/** @param before the meter before the work */
export const allocateMore = (before: number, share: number): void => {
  const until = allocatedBytes() * (1 + share) - before * share
  while (allocatedBytes() < until) latest = Array.from({ length: 1_000 }, (_, index) => latest.length + index)
}

/** One durable append more, to a journal of its own. */
export const commitMore = (transport: Transport, id: string): (() => Promise<void>) => {
  let seq = 0
  return async () => {
    const answer = await transport.journal.append({ kind: 'planted', id }, seq++, new Uint8Array(100), { wakeAt: null, at: 0 })
    if (answer.outcome !== 'ok') throw new Error(`the planted append was answered ${JSON.stringify(answer)}`)
  }
}
