/** Commits on the main thread: what is light, on a disk that is quick, is done before another thread has even been woken. */
import type { RuntimeError } from '../../contracts/errors.ts'
import { checkpoint, openBeside } from './database.ts'
import { openCommits } from './group-commit.ts'
import type { WriteRequest, WriterAnswer } from './requests.ts'
import { tellsOfBusyFile } from './sqlite-error.ts'

export type WriterHere = {
  /** @returns undefined when somebody else has the file, which is nothing to wait for here @throws when not even a rollback works */
  commit(requests: WriteRequest[]): WriterAnswer | undefined
  /** @returns whether the log can be begun anew */
  checkpoint(): boolean
  /** How far the count of groups has come. */
  groups(): number
  /** The other one has come as far as this. */
  follow(groups: number): void
  lost(): RuntimeError | undefined
  broken(): RuntimeError | undefined
  close(): void
}

export const writerHere = (file: string): WriterHere => {
  const database = openBeside(file)
  const { mark, files, group } = openCommits(database, file)
  return {
    commit(requests) {
      const began = performance.now()
      const results = group.run(requests)
      if (results.every((result) => typeof result !== 'number' && tellsOfBusyFile(result.error))) return undefined
      return { results, groups: mark.groups(), tookMs: performance.now() - began }
    },
    checkpoint() {
      try {
        return checkpoint(database) === 0
      } catch {
        // What is in the log is safe there; whoever writes next is told what is wrong.
        return false
      }
    },
    groups: mark.groups,
    follow: mark.follow,
    lost: files.known,
    broken: group.broken,
    close() {
      mark.close()
      database.close()
    },
  }
}
