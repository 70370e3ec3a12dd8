/** `statecast fork`: another conversation that begins with this one's past, and goes its own way. */

import { RuntimeError } from '../contracts/errors.ts'
import type { ForkChange } from '../contracts/fork.ts'
import { formatAddress, parseAddress } from '../contracts/subjects.ts'
import type { Forked } from '../runtime/index.ts'
import { withAddress } from './address.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, print, printable, printJson } from './output.ts'

type ForkOptions = Globals & { at?: number; as: string; live?: boolean; change?: string; event?: string }

/** @throws RuntimeError not_found, bad_request, conflict where the new key is taken */
export const fork = async (options: ForkOptions, key: string): Promise<number> => {
  const change = changeIn(options)
  const client = await connect(options)
  try {
    const { at, live } = options
    const forked = await withAddress(key, ({ kind, id }) =>
      client.command<Forked>('trace.fork', { kind, id, at, as: keyIn(options.as, kind), answers: live ? 'live' : undefined, change }),
    )
    const name = printable(forked.kind === 'session' ? forked.id : formatAddress(forked))
    if (options.json) printJson(forked)
    else
      print(`${name} shares commits 1 to ${forked.origin.at} of ${printable(formatAddress(forked.origin.address))}, and goes its own way from there`)
    if (!options.json)
      note(client.url === undefined ? 'it runs on when a node is started: statecast up' : `watch it: statecast trace ${name} --follow`)
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

/** `order/o-18` for an order may be written in full. */
const keyIn = (as: string, kind: string): string => (as.startsWith(`${kind}/`) ? parseAddress(as).id : as)

const changeIn = ({ change, event }: ForkOptions): ForkChange | undefined => {
  if (change === undefined && event === undefined) return undefined
  const found = /^(\d+)(?::(\d+))?$/.exec(change ?? '')
  if (!found)
    throw new RuntimeError('bad_request', change === undefined ? '--event says what, and --change which' : `'${change}' is no input of a commit`, {
      field: 'change',
      hint: 'give --change SEQ or SEQ:N, for input N of commit SEQ from 0, as statecast trace lists them',
    })
  return { seq: Number(found[1]), input: Number(found[2] ?? 0), event: eventIn(event) }
}

const eventIn = (text = ''): ForkChange['event'] => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new RuntimeError('bad_request', 'what is different in the event has to be JSON', {
      cause,
      field: 'event',
      hint: `give what changes, such as --event '{"decision":"deny"}'`,
    })
  }
}
