/** `statecast inspect`: where a conversation, or any actor, of the node that runs can be looked at. */
import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, folderOf, isNats, tokenFor } from '../client/index.ts'
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Address } from '../contracts/subjects.ts'
import { withAddress } from './address.ts'
import { addressOf, connect, givenUrl } from './connect.ts'
import type { Globals } from './globals.ts'
import { loadApp } from './load-app.ts'
import { exitCodes, note, print, printJson } from './output.ts'
import { inspectorPage, socketAddress } from './pages.ts'
import { surroundings } from './surroundings.ts'
import { msIn } from './token.ts'

type InspectOptions = Globals & { stately?: boolean; expires?: string; open?: boolean }
type Relayed = { path: string; expiresAt: number }

export const inspect = async (options: InspectOptions, key: string | undefined): Promise<number> => {
  if (options.stately && key === undefined)
    throw new RuntimeError('bad_request', 'an address for other visualisers shows one conversation or actor', {
      field: 'key',
      hint: 'name it: statecast inspect main --stately',
    })
  const expiresInMs = options.expires === undefined ? undefined : msIn(options.expires)
  const client = await connect(options, { look: true })
  try {
    const url = gatewayOf(client)
    const place = key === undefined ? undefined : await withAddress(key, (address) => found(client, address))
    const page = inspectorPage(url, await tokenOf(options), place)
    const relayed = options.stately && place ? await client.command<Relayed>('trace.relay', { ...place, ...definedOf({ expiresInMs }) }) : undefined
    const stately = relayed && socketAddress(url, relayed.path)
    if (options.json) printJson({ inspector: page, ...definedOf({ stately, expiresAt: relayed?.expiresAt }) })
    else {
      print(page)
      if (stately !== undefined) print(stately)
      if (relayed) note(`whoever has the second address sees this and nothing else, until ${new Date(relayed.expiresAt).toISOString()}`)
    }
    if (options.open) openPage(page)
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

/** @throws RuntimeError log_unavailable, unsupported */
const gatewayOf = ({ url }: Client): string => {
  if (url === undefined)
    throw new RuntimeError('log_unavailable', 'no node is running on this data', { hint: 'the page is served by one: start it with statecast up' })
  if (!isNats(url)) return url
  throw new RuntimeError('unsupported', 'a NATS server does not say where its nodes serve pages', {
    field: 'url',
    hint: 'name a node: --url http://127.0.0.1:4111, as statecast up printed it',
  })
}

/** By the one name that it has. @throws RuntimeError not_found */
const found = async (client: Client, { kind, id }: Address): Promise<Address> => {
  await client.command('trace.read', { kind, id, limit: 1 })
  if (kind !== 'session') return { kind, id }
  const { sessionKey } = await client.command<{ sessionKey: string }>('sessions.resolve', { sessionKey: id })
  return { kind, id: sessionKey }
}

/** As commands have it: that of the data folder, else that of the environment. */
const tokenOf = async (options: Globals): Promise<string | undefined> => {
  const given = givenUrl(options)
  const transport = given ?? addressOf(options, await loadApp(options.app))
  return tokenFor(typeof transport === 'string' ? folderOf(transport) : undefined, { variables: surroundings().env, folder: surroundings().cwd() })
}

/** By a file that only we can read: what a program is started with everybody on this machine can see. */
const openPage = (page: string): void => {
  const file = join(mkdtempSync(join(tmpdir(), 'statecast-inspect-')), 'inspector.html')
  const literal = JSON.stringify(page).replaceAll('<', '\\u003c')
  writeFileSync(file, `<!doctype html><meta charset="utf-8"><title>Statecast</title><script>location.replace(${literal})</script>\n`, { mode: 0o600 })
  const [program = '', ...before] = process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['explorer'] : ['xdg-open']
  const opener = spawn(program, [...before, file], { detached: true, stdio: 'ignore', env: surroundings().env })
  opener.once('error', () => note(`${program} cannot be started: open the address yourself`))
  opener.unref()
}
