/** Finds the node at an address, and how to talk to it. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { definedOf } from '../contracts/defined.ts'
import type { Environment } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { RuntimeOptions } from '../runtime/index.ts'
import { variables } from '../runtime/variables.ts'
import type { Owner } from '../transport/embedded/index.ts'
import { checkAddress, checkReachable } from './check-address.ts'
import type { Client } from './client.ts'

export type ConnectOptions = Pick<RuntimeOptions, 'prefix' | 'nats'> & {
  /** For HTTP; by default that of the data folder, else STATECAST_TOKEN. */
  token?: string | undefined
  /** ms for which no node may answer before a run that is followed is given up. Default: 10 min on NATS, where others take over; 30 s over HTTP. */
  outageMsMax?: number | undefined
}

/** What it takes from the process, where that is not the process's own. */
type Around = Pick<Partial<Environment>, 'variables' | 'folder' | 'log'>

/** A node that restarts is back by then. */
const restartMs = 30_000

/**
 * Connects to a node that runs: `http://…`, `nats://…` (and `tls://`, `nats-context:`), or `embedded:<folder>` for the one that holds a data folder.
 * @throws RuntimeError bad_request (no such address), log_unavailable (no node answers there), unauthorised
 */
export const connect = async (url: string, options: ConnectOptions = {}): Promise<Client> => {
  checkReachable(url)
  const client = await nodeAt(url, { outageMsMax: isNats(url) ? undefined : restartMs, ...options })
  if (client === undefined)
    throw new RuntimeError('log_unavailable', 'no node answers at this address', {
      field: 'url',
      retryable: true,
      hint: "start one with 'statecast up' and the same address; createRuntime() of 'statecast' needs none",
    })
  try {
    // The client can be used: the node answers, and takes the token.
    await client.command('health', {})
    return client
  } catch (error) {
    await client.close()
    throw error
  }
}

export const isNats = (url: string): boolean => /^(?:nats|nats-context|tls):/.test(url)

/**
 * The folder of an embedded transport; undefined for others, and for one that names none.
 * @param from where a relative path starts; default: the working directory of the process
 */
export const folderOf = (url: string, from: string = process.cwd()): string | undefined => {
  const [, folder] = /^embedded:(.+)$/s.exec(url) ?? []
  return folder === undefined ? undefined : resolve(from, folder)
}

/** The same address, whose folder has an absolute path. */
export const fromFolder = (url: string, from?: string): string => {
  const folder = folderOf(url, from)
  return folder === undefined ? url : `embedded:${folder}`
}

/** @returns undefined where no node runs; over HTTP nobody has been asked yet @throws RuntimeError unauthorised when the token of a node is not readable */
export const nodeAt = async (
  url: string,
  { token, outageMsMax, prefix, nats, environment = {} }: ConnectOptions & { environment?: Around } = {},
): Promise<Client | undefined> => {
  checkAddress(url)
  if (isNats(url)) {
    const { natsClient } = await import('./nats-client.ts')
    const client = await natsClient(url, definedOf({ prefix, nats, log: environment.log }))
    return client && outageMsMax !== undefined ? { ...client, outageMsMax } : client
  }
  const folder = folderOf(url, environment.folder)
  if (folder === undefined && !/^https?:/.test(url)) return undefined
  const node = folder === undefined ? { url: url.replace(/(?<!\/)\/+$/, '') } : await nodeOf(folder)
  if (node === undefined) return undefined
  const { httpClient } = await import('./http-client.ts')
  return httpClient({ url: node.url, token: token ?? (await tokenFor(folder, environment)), outageMsMax })
}

/** Short commands hold the folder for moments, and a node that starts will soon say where it is. */
const patienceMs = 3000
const stepMs = 50

/** @returns the node that holds a folder, once it has said where it listens; undefined when no node holds it, or one that serves no address */
export const nodeOf = async (folder: string): Promise<{ url: string; pid: number } | undefined> => {
  for (let waited = 0; waited < patienceMs; waited += stepMs) {
    const owner = await ownerOf(folder)
    if (typeof owner?.url === 'string') return { url: owner.url, pid: owner.pid }
    if (owner?.starting === undefined) return undefined
    await pause(stepMs)
  }
  return undefined
}

const ownerOf = async (folder: string): Promise<Owner | undefined> =>
  existsSync(join(folder, 'lock.db')) ? (await import('../transport/embedded/index.ts')).readOwner(folder) : undefined

/** What a node takes: the token of its data folder, else that of the environment. @throws RuntimeError unauthorised */
export const tokenFor = async (folder: string | undefined, { variables: env, folder: from }: Around = {}): Promise<string | undefined> => {
  if (folder === undefined) return variables(env, from).STATECAST_TOKEN
  const { readToken, tokenFile } = await import('../api/http/token.ts')
  try {
    return readToken(folder) ?? variables(env, from).STATECAST_TOKEN
  } catch (cause) {
    throw new RuntimeError('unauthorised', `the token of the node cannot be read from ${tokenFile(folder)}`, {
      cause,
      hint: 'run as the user who started the node',
    })
  }
}
