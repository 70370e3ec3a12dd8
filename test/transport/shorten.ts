/** Takes the end of a journal away behind the back of whoever uses it, as a broken disk or a careless hand does. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { jetstream, jetstreamManager, type StoredMsg } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { connect } from '@nats-io/transport-node'
import type { Address } from '../../src/contracts/subjects.ts'
import { Acknowledged } from '../../src/transport/acknowledged.ts'
import { listOf, placesPerRow, proofOf } from '../../src/transport/embedded/places.ts'
import type { MemoryRoots } from '../../src/transport/memory/journal.ts'
import type { MemoryStore } from '../../src/transport/memory/open.ts'
import { namesOf } from '../../src/transport/nats/names.ts'

/** @param to the last sequence that is left; with 0 nothing is but the snapshot */
export const cutMemory = (store: MemoryStore, { kind, id }: Address, to: number): void => {
  const { roots } = (store as MemoryStore & { roots: MemoryRoots }).roots
  const root = roots.get(`${kind}/${id}`)!
  root.frames.splice(to)
  root.seq = to
  if (to === 0) roots.delete(`${kind}/${id}`)
}

/** Whoever opens the store from now on has seen nothing of it, as a process that was started after the loss. */
export const forgetMemory = (store: MemoryStore): void => {
  ;(store as MemoryStore & { roots: MemoryRoots }).roots.acknowledged = new Acknowledged()
}

/** As a hand does it beside a running node that knows what the store notes of a root. */
export const cutEmbedded = (folder: string, { kind, id }: Address, to: number): void => {
  const database = new DatabaseSync(join(folder, 'statecast.db'))
  const { root, first, at, wake_at } = database.prepare('SELECT * FROM roots WHERE kind = ? AND id = ?').get(kind, id) as Record<string, number>
  database.prepare('DELETE FROM frames WHERE root = ? AND seq > ?').run(root!, to)
  if (to === 0) database.prepare('DELETE FROM roots WHERE root = ?').run(root!)
  else {
    const left = database.prepare('SELECT place, checksum FROM frames WHERE root = ? ORDER BY seq').all(root!) as {
      place: number
      checksum: number
    }[]
    const { checksum } = left.at(-1)!
    const tail = listOf(left.slice(-placesPerRow).map(({ place }) => place))
    const proof = proofOf({ seq: to, first: first!, checksum, wakeAt: wake_at!, at: at!, tail })
    database.prepare('UPDATE roots SET seq = ?, checksum = ?, proof = ?, tail = ? WHERE root = ?').run(to, checksum, proof, tail, root!)
  }
  database.close()
}

/** Where all of one root goes its subject is purged; else the stream comes back without what came after, as after a restore of an older copy. */
export const cutNats = async (url: string, address: Address, to: number, prefix = 'statecast'): Promise<void> => {
  const names = namesOf(prefix)
  const name = names.streams.journal
  const nc = await connect({ servers: url })
  try {
    const { streams } = await jetstreamManager(nc)
    if (to === 0) return void (await streams.purge(name, { filter: names.journal(address) }))
    const { config, state } = await streams.info(name)
    const kept: StoredMsg[] = []
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await streams.getMessage(name, { seq }).catch(() => null)
      if (message && (message.subject !== names.journal(address) || Number(message.header.get('Statecast-Seq')) <= to)) kept.push(message)
    }
    await streams.delete(name)
    await streams.add(config)
    for (const { header } of kept) header.delete('Nats-Expected-Last-Subject-Sequence')
    for (const { subject, data, header } of kept) await jetstream(nc).publish(subject, data, { headers: header })
  } finally {
    await nc.close()
  }
}

/** Somebody wants the shorter journal, and does what the refusal says. */
export const acceptNats = async (url: string, prefix = 'statecast'): Promise<void> => {
  const nc = await connect({ servers: url })
  await (await new Kvm(nc).open(namesOf(prefix).bucket)).purge('_backend/journal')
  await nc.close()
}
