/** Statecast without a server: everything in one folder, one SQLite file, one writer thread. */

import { dirname, join, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { definedOf } from '../../contracts/defined.ts'
import type { Environment } from '../../contracts/environment.ts'
import type { RuntimeError } from '../../contracts/errors.ts'
import type { Transport } from '../../contracts/transport.ts'
import { closable } from '../closable.ts'
import { inboxQueue } from '../inbox-queue.ts'
import { localBus } from '../local-bus.ts'
import { watchedRegistry } from '../registry-watch.ts'
import { fileBlobs } from './blobs.ts'
import { makeDataFolder } from './data-folder.ts'
import { openForReading } from './database.ts'
import { freeBytesMinimum, freeSpace, type MeasureFreeBytes } from './free-space.ts'
import { journalReads } from './journal.reads.ts'
import { embeddedJournal, type JournalParts } from './journal.ts'
import { lockFileBeside, lockFolder } from './lock.ts'
import { filesOfStore, openFiles } from './open-files.ts'
import { fromSqlite, tellsOfBrokenFile } from './sqlite-error.ts'
import { sqliteInbox, sqliteRegistry } from './stores.ts'
import { Wakes } from './wakes.ts'
import { startWriter, type Writer, type WriterOptions } from './writer.ts'

export { type Owner, readOwner, writeOwner } from './lock.ts'

export type EmbeddedOptions = {
  /** Made with mode 0700 when missing. */
  folder: string
  environment: Pick<Environment, 'clock' | 'failPoints' | 'log'>
  /** Below so much free space nothing is accepted; 64 MiB unless given. */
  freeBytesMin?: number
  /** Of the subjects that this transport makes up itself. */
  prefix?: string
  /** Undelivered inbox messages; 100,000 unless given. */
  inboxMax?: number
  /** What others may learn from {@link readOwner}, such as `url`. */
  owner?: Record<string, string>
  /** For tests. */
  measureFreeBytes?: MeasureFreeBytes
  /** For tests: another program for the writer thread, or everything in it. */
  writer?: WriterOptions
}

const durability = 'SQLite, write-ahead log with synchronous=FULL: an acknowledged append survives a power cut'

/** @throws RuntimeError bad_request for an impossible path, locked, corrupt_at, unsupported for a newer schema, log_full, log_unavailable */
export const openEmbedded = async (options: EmbeddedOptions): Promise<Transport> => {
  const { owner } = options
  const folder = resolve(options.folder)
  makeDataFolder(folder)
  const file = join(folder, 'statecast.db')

  const lock = lockFolder(folder, owner)
  const { writer, database } = await openFile(file, options.writer).catch((error: unknown) => {
    lock.release()
    throw error
  })

  const query = <T>(question: () => T): T => {
    const lost = writer.lost()
    if (lost !== undefined) throw lost
    try {
      return question()
    } catch (error) {
      const said = fromSqlite(error, file)
      // Acknowledging into a broken file would lose more with every write.
      if (tellsOfBrokenFile(error)) writer.refuse(said)
      throw said
    }
  }
  const close = async (): Promise<void> => {
    // The reader first: the last connection tidies up, and only the writer may write. The lock last.
    database.close()
    await writer.close()
    lock.release()
  }
  try {
    return query(() => assemble(options, file, { writer, database, query, close }))
  } catch (error) {
    await close()
    throw error
  }
}

type Opened = { writer: Writer; database: DatabaseSync; query: JournalParts['query']; close: () => Promise<void> }

const assemble = (options: EmbeddedOptions, file: string, { writer, database, query, close }: Opened): Transport => {
  const { environment, freeBytesMin = freeBytesMinimum } = options
  const { clock, failPoints, log } = environment
  const folder = dirname(file)
  const space = freeSpace(folder, freeBytesMin, clock, options.measureFreeBytes)
  const inboxStore = sqliteInbox(database, writer, query, space, clock)
  const queue = inboxQueue(inboxStore, () => environment, options.inboxMax)
  const registry = watchedRegistry(sqliteRegistry(database, writer, query), () => environment)
  const files = openFiles(filesOfStore(file, lockFileBeside(file)))
  const reads = journalReads(database)
  const wakes = new Wakes(reads.heads(), log)
  const holder = {}

  return closable({
    name: 'embedded',
    capabilities: { durable: true, sharedByNodes: false },
    journal: embeddedJournal({ writer, reads, wakes, space, failPoints, query }),
    bus: localBus(environment, options.prefix),
    inbox: { put: queue.put, consume: (pattern, handler) => queue.consume(pattern, handler, holder), deadLetters: inboxStore.dead },
    registry,
    blobs: fileBlobs(folder, {
      require(sizeBytes) {
        // Or a folder that was deleted would come back with nothing but a blob in it.
        files.require()
        const failure = writer.failure()
        if (failure !== undefined) throw failure
        space.require(sizeBytes)
      },
    }),
    health: async () => health(writer.failure() ?? files.lost(), space.freeBytes(), freeBytesMin),
    async close() {
      queue.abandon(holder, true)
      registry.stop()
      await close()
    },
  })
}

const openFile = async (file: string, writerOptions?: WriterOptions): Promise<{ writer: Writer; database: DatabaseSync }> => {
  const writer = await startWriter(file, writerOptions)
  try {
    return { writer, database: openForReading(file) }
  } catch (error) {
    await writer.close()
    throw error
  }
}

const health = (failure: RuntimeError | undefined, freeBytes: number | undefined, freeBytesMin: number) => {
  const short = freeBytes !== undefined && freeBytes < freeBytesMin
  const detail = failure?.message ?? (short ? `${freeBytes} bytes free, ${freeBytesMin} needed` : undefined)
  return { writable: failure === undefined && !short, freeBytes, durability, ...definedOf({ detail }) }
}
