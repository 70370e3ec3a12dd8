/** Counts per turn of one tree: on disk by a shim that records what is written and synced, on NATS by the monitoring of a server. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { compileShim, readTrace } from '../../test/crash/disk.ts'
import { inChild } from '../child.ts'
import { startServer } from '../nats/server.ts'
import type { Message } from '../script.ts'
import type { Counted, CountedInput } from './counted.ts'
import type { Plant } from './plant.ts'

const program = new URL('./counted.ts', import.meta.url)
const timeoutMs = 60_000
const messages: readonly Message[] = ['plain', 'tool']

export type Count = { name: string; unit: string; value: number }

/** @param folder new, for stores @param flags of Node */
export const countsOf = async (root: string, folder: string, plant?: Plant): Promise<Count[]> => {
  mkdirSync(folder, { recursive: true })
  const shim = compileShim(folder)
  const counts: Count[] = []
  for (const message of messages) counts.push(...(await onDisk({ root, message, plant }, join(folder, message), shim)))
  for (const message of messages) counts.push(...(await onNats({ root, message, plant }, join(folder, `nats-${message}`))))
  return counts
}

type Asked = Pick<CountedInput, 'root' | 'message' | 'plant'>

const onDisk = async (asked: Asked, folder: string, shim: string): Promise<Count[]> => {
  const [store, trace] = [join(folder, 'store'), join(folder, 'trace')]
  mkdirSync(folder)
  const env = { LD_PRELOAD: shim, DISK_TRACE: trace, DISK_FILES: `${store}/` }
  const { turns, commits, roundTrips } = await inChild<Counted>(program, { ...asked, transport: `embedded:${store}` }, { env, timeoutMs })
  let [inTurns, bytes, syncs] = [false, 0, 0]
  for (const event of readTrace(trace)) {
    if (event.what === 'said') inTurns = event.text.startsWith('begin') || (inTurns && !event.text.startsWith('end'))
    else if (inTurns && event.what === 'written') bytes += event.data.length
    else if (inTurns && event.what === 'synced') syncs++
  }
  const count = (name: string, unit: string, sum: number): Count => ({ name: `disk, a ${asked.message} turn: ${name}`, unit, value: sum / turns })
  return [count('commits', '', commits), count('round trips', '', roundTrips), count('bytes written', 'B', bytes), count('fsyncs', '', syncs)]
}

/** Each on a server of its own, since ids begin again with each process. */
const onNats = async (asked: Asked, folder: string): Promise<Count[]> => {
  const { url: transport, monitor, stop } = await startServer(folder)
  try {
    const {
      turns,
      commits,
      roundTrips,
      sent = Number.NaN,
      sentBytes = Number.NaN,
    } = await inChild<Counted>(program, { ...asked, transport, monitor }, { timeoutMs })
    const count = (name: string, unit: string, sum: number): Count => ({ name: `NATS, a ${asked.message} turn: ${name}`, unit, value: sum / turns })
    return [
      count('commits', '', commits),
      count('round trips', '', roundTrips),
      count('messages to the server', '', sent),
      count('bytes to the server', 'B', sentBytes),
    ]
  } finally {
    await stop()
  }
}
