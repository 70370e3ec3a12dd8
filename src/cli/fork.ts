/** `statecast fork`: another conversation that begins with this one's past, and goes its own way. */

import type { Client } from '../client/index.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { parseExact } from '../contracts/exact-json.ts'
import type { ForkChange } from '../contracts/fork.ts'
import { shownAddress } from '../contracts/subjects.ts'
import type { Forked } from '../runtime/index.ts'
import { addressIn, withAddress } from './address.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { hintCommand } from './hint.ts'
import { exitCodes, note, print, printable, printJson } from './output.ts'

type ForkOptions = Globals & { at?: number; as: string; live?: boolean; change?: string; event?: string }

/** @throws RuntimeError not_found, bad_request, conflict where the new key is taken */
export const fork = async (options: ForkOptions, key: string): Promise<number> => {
  const change = changeIn(options)
  const client = await connect(options)
  try {
    const { at, live } = options
    const forked = await withAddress(key, async ({ kind, id }) => {
      const as = await keyIn(client, options.as, kind)
      return client.command<Forked>('trace.fork', { kind, id, at, as, answers: live ? 'live' : undefined, change })
    })
    if (options.json) {
      printJson(forked)
      return exitCodes.fine
    }
    const name = printable(forked.kind === 'session' ? forked.id : shownAddress(forked))
    print(`${name} shares commits 1 to ${forked.origin.at} of ${printable(shownAddress(forked.origin.address))}, and goes its own way from there`)
    note(
      client.url === undefined
        ? `it runs on when a node is started: ${hintCommand(options, 'up')}`
        : `watch it: ${hintCommand(options, 'trace --follow', name)}`,
    )
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

/** `order/o-18` for an order may be written in full; a key may have a slash of its own. @throws RuntimeError bad_request for one of another kind */
const keyIn = async (client: Client, as: string, kind: string): Promise<string> => {
  const other = /^([a-z][a-z0-9-]{0,31})\//.exec(as)?.[1]
  if (other === kind) return addressIn(as).id
  if (other !== undefined && (await isKind(client, other)))
    throw new RuntimeError('bad_request', `'${as.slice(0, 80)}' is of another kind: a fork of a ${kind} is a ${kind} too`, {
      field: 'as',
      hint: `give a key, or ${kind}/KEY`,
    })
  return as
}

const isKind = async (client: Client, kind: string): Promise<boolean> => {
  try {
    await client.command('machines.get', { kind })
    return true
  } catch (error) {
    if (isRuntimeError(error) && error.code === 'not_found') return false
    throw error
  }
}

const changeIn = ({ change, event }: ForkOptions): ForkChange | undefined => {
  if (change === undefined && event === undefined) return undefined
  const found = /^(\d+)(?::(\d+))?$/.exec(change ?? '')
  if (!found)
    throw new RuntimeError('bad_request', change === undefined ? '--event says what, and --change which' : `'${change}' is no input of a commit`, {
      field: 'change',
      hint: 'give --change SEQ, or SEQ:N for its input N: statecast trace has a line for each, to be counted from 0 without “taken over by”',
    })
  return { seq: Number(found[1]), input: Number(found[2] ?? 0), event: eventIn(event) }
}

const eventIn = (text = ''): ForkChange['event'] => {
  try {
    return parseExact(text, 'event') as ForkChange['event']
  } catch (cause) {
    if (isRuntimeError(cause)) throw cause
    throw new RuntimeError('bad_request', 'what is different in the event has to be JSON', {
      cause,
      field: 'event',
      hint: `give what changes, such as --event '{"decision":"deny"}'`,
    })
  }
}
