/** What no tool of an agent may use, wherever it lies: the data of the node, with the token that opens everything, and keys. */
import { join, relative, resolve } from 'node:path'
import { folderOf } from './client/index.ts'
import { credentialFile } from './credential-file.ts'
import type { Variables } from './models/index.ts'
import type { RuntimeOptions } from './runtime/index.ts'

/** What a data folder holds of the node itself. */
const own = ['token', 'blobs', 'lock.db', 'owner.json', 'statecast.db', 'statecast.db-wal', 'statecast.db-shm', 'statecast.db.mark']

/** @param from where relative paths start @returns absolute paths; of a data folder that is the workspace, or holds it, only what is the node's own */
export const closedPlaces = (options: RuntimeOptions, env: Variables, workspace: string, from: string = process.cwd()): string[] => {
  const { transport = options.config?.session?.store ?? env.STATECAST_URL } = options
  const data = typeof transport === 'string' ? folderOf(transport, from) : undefined
  const keys = credentialFile(options, env, from)
  const holdsWorkspace = data !== undefined && !relative(data, workspace).startsWith('..')
  const ofNode = data === undefined ? [] : holdsWorkspace ? own.map((name) => join(data, name)) : [data]
  return [...ofNode, ...(keys === undefined ? [] : [resolve(from, keys)])]
}
