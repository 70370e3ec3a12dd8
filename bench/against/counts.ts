/** Counts per turn of one tree: on disk by a shim that records what is written and synced, on NATS by a second client. */
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import { compileShim, readTrace } from '../../test/crash/disk.ts'
import { inChild } from '../child.ts'
import { startServer } from '../nats/server.ts'
import type { Message } from '../script.ts'
import { withFolder } from '../workload.ts'
import type { Counted, CountedInput } from './counted.ts'
import { marks, sessionPrefix } from './marks.ts'
import type { Plant } from './plant.ts'

const program = new URL('./counted.ts', import.meta.url)
const timeoutMs = 60_000
const messages: readonly Message[] = ['plain', 'tool']

export type Count = { name: string; unit: string; value: number }

/** @param folder new, for stores */
export const countsOf = async (root: string, folder: string, plant?: Plant): Promise<Count[]> => {
  mkdirSync(folder, { recursive: true })
  // Memory may be mounted so that no program loads from there.
  return withFolder(async (programs) => {
    const shim = compileShim(programs)
    const counts: Count[] = []
    for (const message of messages) counts.push(...(await onDisk({ root, message, plant }, join(folder, message), shim)))
    for (const message of messages) counts.push(...(await onNats({ root, message, plant }, join(folder, `nats-${message}`))))
    return counts
  }, tmpdir())
}

type Asked = Pick<CountedInput, 'root' | 'message' | 'plant'>

const onDisk = async (asked: Asked, folder: string, shim: string): Promise<Count[]> => {
  const [store, trace] = [join(folder, 'store'), join(folder, 'trace')]
  mkdirSync(folder)
  const env = { LD_PRELOAD: shim, DISK_TRACE: trace, DISK_FILES: `${store}/` }
  const { turns, commits, roundTrips } = await inChild<Counted>(program, { ...asked, transport: `embedded:${store}` }, { env, timeoutMs })
  let [inTurns, bytes, syncs] = [false, 0, 0]
  for (const event of readTrace(trace)) {
    if (event.what === 'said') inTurns = event.text.startsWith(marks.begin) || (inTurns && !event.text.startsWith(marks.end))
    else if (inTurns && event.what === 'written') bytes += event.data.length
    else if (inTurns && event.what === 'synced') syncs++
  }
  const count = (name: string, unit: string, sum: number): Count => ({ name: `disk, a ${asked.message} turn: ${name}`, unit, value: sum / turns })
  return [count('commits', '', commits), count('round trips', '', roundTrips), count('bytes written', 'B', bytes), count('fsyncs', '', syncs)]
}

/** Each on a server of its own, since ids begin again with each process. A second client receives what the sessions send. */
const onNats = async (asked: Asked, folder: string): Promise<Count[]> => {
  const { url, stop } = await startServer(folder)
  const tap = await connect({ servers: url })
  try {
    let [messages, bytes] = [0, 0]
    tap.subscribe('>', {
      callback: (_, { subject, data }) => {
        if (!subject.includes(`.${sessionPrefix}`)) return
        messages++
        bytes += subject.length + data.length
      },
    })
    await tap.flush()
    const { turns, commits, roundTrips } = await inChild<Counted>(program, { ...asked, transport: url }, { timeoutMs })
    await tap.flush()
    const count = (name: string, unit: string, sum: number): Count => ({ name: `NATS, a ${asked.message} turn: ${name}`, unit, value: sum / turns })
    return [count('commits', '', commits), count('round trips', '', roundTrips), count('messages', '', messages), count('bytes sent', 'B', bytes)]
  } finally {
    await tap.close()
    await stop()
  }
}
