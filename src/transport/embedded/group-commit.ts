/** One transaction for everything that has queued up, one answer for each request. */
import type { DatabaseSync } from 'node:sqlite'
import { isRuntimeError, type RuntimeError } from '../../contracts/errors.ts'
import { type HighWater, highWater } from './high-water.ts'
import { inboxWrites, registryWrites } from './inbox.writes.ts'
import { journalWrites } from './journal.writes.ts'
import { lockFileBeside } from './lock.ts'
import { filesOfStore, type OpenFiles, openFiles } from './open-files.ts'
import { appended, type WriteRequest, type WriteResult } from './requests.ts'
import { fromSqlite, tellsOfBrokenFile } from './sqlite-error.ts'

type GroupCommit = {
  /** Makes a group durable before it returns. @throws when not even a rollback works, which ends the writer */
  run(requests: WriteRequest[]): WriteResult[]
  /** What SQLite said when it first found the file broken; nothing is written since then. */
  broken(): RuntimeError | undefined
}

export const groupCommit = (database: DatabaseSync, file: string, mark: HighWater, files: Pick<OpenFiles, 'require'>): GroupCommit => {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const journal = journalWrites(database)
  const inbox = inboxWrites(database)
  const registry = registryWrites(database)
  let broken: RuntimeError | undefined

  const apply = (request: WriteRequest): number => {
    switch (request[0]) {
      case 'append':
        return journal.append({ kind: request[1], id: request[2] }, request[3], request[4], request[5], request[6], mark.next())
      case 'fork':
        return journal.fork(request[1], request[2], request[3], request[4], request[5], request[6], request[7])
      case 'saveSnapshot':
        return journal.saveSnapshot({ kind: request[1], id: request[2] }, request[3], request[4])
      case 'truncate':
        return journal.truncate({ kind: request[1], id: request[2] }, request[3], mark.next())
      case 'remove':
        return journal.remove({ kind: request[1], id: request[2] }, mark.next())
      case 'inboxPut':
        return inbox.put(request[1], request[2], request[3])
      case 'inboxDone':
        return inbox.done(request[1], request[2])
      case 'inboxPostpone':
        return inbox.postpone(request[1], request[2], request[3], request[4])
      case 'inboxBury':
        return inbox.bury(request[1], request[2], request[3])
      case 'inboxForget':
        return inbox.forget(request[1])
      case 'registryPut':
        return registry.put(request[1], request[2], request[3], request[4])
      case 'registryDelete':
        return registry.delete(request[1], request[2])
    }
  }

  /** A typed refusal has changed nothing, so the rest of the group may go on; any other error leaves a request half done. */
  const attempt = (request: WriteRequest): WriteResult => {
    try {
      return apply(request)
    } catch (error) {
      if (!isRuntimeError(error)) throw error
      return { error: error.toJSON() }
    }
  }

  const rollback = (): void => {
    journal.forget()
    // SQLite ends the transaction by itself after some errors, such as a full disk.
    if (database.isTransaction) database.exec('ROLLBACK')
  }

  const run = (requests: WriteRequest[]): WriteResult[] => {
    let inStatements = false
    try {
      if (broken !== undefined) throw broken
      // Before, so that what is refused is not written; after, so that what is acknowledged is in the files that are in the folder.
      files.require()
      begin.run()
      inStatements = true
      const results: WriteResult[] = []
      for (const request of requests) results.push(attempt(request))
      if (!tellsItsGroup(requests, results)) mark.count()
      inStatements = false
      commit.run()
      files.require()
      mark.committed()
      return results
    } catch (error) {
      rollback()
      if (tellsOfBrokenFile(error)) broken ??= fromSqlite(error, file)
      // Of many, one is to blame: alone, each gets the answer that it deserves.
      if (inStatements && requests.length > 1) return requests.flatMap((request) => run([request]))
      const refused = { error: fromSqlite(error, file).toJSON() }
      return requests.map(() => refused)
    }
  }
  return { run, broken: () => broken }
}

/** What commits over one connection need: the count of groups, a look at the files, the statements. */
export const openCommits = (database: DatabaseSync, file: string): { mark: HighWater; files: OpenFiles; group: GroupCommit } => {
  const mark = highWater(database, file)
  const files = openFiles(filesOfStore(file, lockFileBeside(file)))
  return { mark, files, group: groupCommit(database, file, mark, files) }
}

/** A frame says which group wrote it. One that was removed says nothing, and may have been the last. */
const tellsItsGroup = (requests: WriteRequest[], results: WriteResult[]): boolean =>
  requests.some(([name], index) => name === 'append' && results[index] === appended) && !requests.some(([name]) => name === 'remove')
