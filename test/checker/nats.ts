/** Journals as they lie on a NATS server, read with the plain client: one message a frame. */
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'

export type StoredJournal = {
  address: string
  frames: { seq: number; bytes: Uint8Array; storedAt: number }[]
  /** When the last frame wants its actor to be woken, ms since the epoch. */
  wakeAt: number | null
}

const batch = 1000
/** A replica that answers may be behind. */
const lagMs = 10_000
const stepMs = 100

/** @param prefix first token of all subjects @returns all journals by address */
export const readNatsJournals = async (servers: readonly string[], prefix: string): Promise<Map<string, StoredJournal>> => {
  const stream = `${prefix.toUpperCase()}_JOURNAL`
  const journals = new Map<string, StoredJournal>()
  // The client leaves a subscription behind each batch, so it is thrown away with them.
  const nc = await connect({ servers: [...servers] })
  try {
    const jsm = await jetstreamManager(nc)
    const { state } = await jsm.streams.info(stream)
    for (let [next, waitedMs] = [1, 0]; next <= state.last_seq; ) {
      let found = 0
      for await (const { subject, header, data, seq, time } of await jsm.direct.getBatch(stream, { seq: next, batch })) {
        found++
        next = seq + 1
        const [kind, id] = subject.slice(`${prefix}.journal.`.length).split('.')
        const address = `${kind}/${id}`
        const journal = journals.get(address) ?? { address, frames: [], wakeAt: null }
        journals.set(address, journal)
        if (header.get('Statecast-Blob')) throw new Error(`a frame of ${address} is a blob, which this reader does not know`)
        journal.frames.push({ seq: Number(header.get('Statecast-Seq')), bytes: new Uint8Array(data), storedAt: time.getTime() })
        journal.wakeAt = header.get('Statecast-Wake-At') ? Number(header.get('Statecast-Wake-At')) : null
      }
      waitedMs = found > 0 ? 0 : waitedMs + stepMs
      if (waitedMs > lagMs) throw new Error(`${stream} ends at ${next - 1} and not at ${state.last_seq}`)
      if (found === 0) await sleep(stepMs)
    }
    return journals
  } finally {
    await nc.close()
  }
}
