/** The writer thread: commits what is not committed on the main thread (`writer.here.ts`), and never at the same time. Its event loop is one wait for work, one commit, one answer. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { checkpoint, countRoots, openForWriting } from './database.ts'
import { openCommits } from './group-commit.ts'
import { checkHighWater } from './high-water.ts'
import { unpackRequests, type WriteBatch, type WriterMessage, type WriterOrder } from './requests.ts'
import { fromSqlite } from './sqlite-error.ts'

const port = parentPort
if (port === null) throw new TypeError('this file is started as a worker')
const { file } = workerData as { file: string }
const isBatch = (order: WriterOrder): order is WriteBatch => typeof order === 'object' && 'requests' in order
const say = (message: WriterMessage): void => port.postMessage(message)

try {
  checkHighWater(file)
  const database = openForWriting(file)
  const { mark, files, group } = openCommits(database, file)

  const finish = (groups: number): void => {
    mark.follow(groups)
    mark.settle()
    countRoots(database)
    mark.close()
    // An empty log is one file less to copy for whoever takes a backup, and a faster start.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    say({ closed: true })
    port.close()
  }

  const write = (batches: WriteBatch[]): void => {
    const began = performance.now()
    for (const { groups } of batches) mark.follow(groups)
    const results = group.run(batches.flatMap(unpackRequests))
    const tookMs = performance.now() - began
    const lost = files.known()
    if (lost !== undefined) say({ lost: lost.toJSON() })
    const broken = group.broken()
    if (broken !== undefined) say({ broken: broken.toJSON() })
    say({ results, groups: mark.groups(), tookMs })
  }

  /** Twice, since the main thread may go on committing: what is left for it to move then is little. */
  const moveAll = (): void => {
    checkpoint(database)
    say({ checkpointed: checkpoint(database) === 0 })
  }

  port.on('message', (first: WriterOrder) => {
    // Batches that came in during the last commit join the next one.
    const batches: WriteBatch[] = []
    let next: { message: WriterOrder } | undefined = { message: first }
    for (; next !== undefined && isBatch(next.message); next = receiveMessageOnPort(port)) batches.push(next.message)
    if (batches.length > 0) write(batches)
    if (next === undefined || isBatch(next.message)) return
    if (next.message === 'checkpoint') moveAll()
    else finish(next.message.close)
  })
  say({ ready: true })
} catch (error) {
  say({ failed: fromSqlite(error, file).toJSON() })
}
