/** The writer thread: the only code that changes the database. Its event loop is one wait for work, one commit, one answer. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { openForWriting } from './database.ts'
import { groupCommit } from './group-commit.ts'
import { checkHighWater, highWater } from './high-water.ts'
import { lockFileBeside } from './lock.ts'
import { filesOfStore, openFiles } from './open-files.ts'
import { unpackRequests, type WriteBatch, type WriterMessage } from './requests.ts'
import { fromSqlite } from './sqlite-error.ts'

const port = parentPort
if (port === null) throw new TypeError('this file is started as a worker')
const { file } = workerData as { file: string }
const say = (message: WriterMessage): void => port.postMessage(message)

try {
  checkHighWater(file)
  const database = openForWriting(file)
  const mark = highWater(database, file)
  const files = openFiles(filesOfStore(file, lockFileBeside(file)))
  const commit = groupCommit(database, file, mark, files)

  const finish = (): void => {
    mark.close()
    // An empty log is one file less to copy for whoever takes a backup, and a faster start.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    say({ closed: true })
    port.close()
  }

  port.on('message', (first: WriteBatch | 'close') => {
    // Batches that came in during the last commit join the next one.
    const batches: WriteBatch[] = []
    let next: { message: WriteBatch | 'close' } | undefined = { message: first }
    while (next !== undefined && next.message !== 'close') {
      batches.push(next.message)
      next = receiveMessageOnPort(port)
    }
    if (batches.length > 0) {
      const results = commit.run(batches.flatMap(unpackRequests))
      const lost = files.known()
      if (lost !== undefined) say({ lost: lost.toJSON() })
      const broken = commit.broken()
      if (broken !== undefined) say({ broken: broken.toJSON() })
      say({ results })
    }
    if (next !== undefined) finish()
  })
  say({ ready: true })
} catch (error) {
  say({ failed: fromSqlite(error, file).toJSON() })
}
