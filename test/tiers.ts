/**
 * Which test file runs when, and with whom.
 *
 * - `*.long.test.ts` takes minutes and belongs to `npm run test:long`; every other file to `npm test`.
 * - A file shares its process with others, which saves it loading everything anew, unless it, or a helper that it imports, touches the process: starts another
 *   one or a thread, reads or sets its environment, listens to its signals, or puts something in the place of a module.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { filesUnder, importsIn, repository, resolveImport, textOf, withoutComments } from './tidy/sources.ts'

const touches =
  /['"]node:(?:child_process|worker_threads|cluster)['"]|\bprocess\.(?:env|chdir|cwd|on|once|off|exit|kill|umask)\b|\bvi\.(?:mock|doMock|stub\w+|useFakeTimers)\b/

/** They start servers, which touch nothing of the process that the tests of another file would see. */
const harmless = new Set(['test/support/nats.ts', 'test/support/guard.ts'])
const ours = (path: string): boolean => path.startsWith('test/') && path.endsWith('.ts') && existsSync(join(repository, path))

/** By file, whether it or a helper of it does. */
const known = new Map<string, boolean>()
const touchesProcess = (file: string): boolean => {
  const answer = known.get(file)
  if (answer !== undefined) return answer
  // Two that import each other would ask for ever.
  known.set(file, false)
  const text = textOf(file)
  const helpers = importsIn(text).flatMap(({ path }) => resolveImport(file, path) ?? [])
  const touching = touches.test(withoutComments(text)) || helpers.some((path) => ours(path) && !harmless.has(path) && touchesProcess(path))
  known.set(file, touching)
  return touching
}

const files = filesUnder('test').filter((path) => path.endsWith('.test.ts'))
const isLong = (file: string): boolean => file.endsWith('.long.test.ts')

export const long = files.filter(isLong)
const short = files.filter((file) => !isLong(file))
/** Each in a process of its own. */
export const apart = short.filter(touchesProcess)
export const together = short.filter((file) => !touchesProcess(file))
