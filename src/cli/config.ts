/** `statecast config`: what is configured, and how it is changed. */

import type { Client } from '../client/index.ts'
import { isRuntimeError } from '../contracts/errors.ts'
import { parseExact } from '../contracts/exact-json.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, print, printable, printJson } from './output.ts'
import { printTable } from './table.ts'

type One = { key: string; value: unknown; source: string | null; hash: string; warnings?: string[] }

const withClient = async (options: Globals, use: (client: Client) => Promise<void>, look = true): Promise<number> => {
  const client = await connect(options, { look })
  try {
    await use(client)
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

export const configGet = (options: Globals, key?: string): Promise<number> =>
  withClient(options, async (client) => {
    if (key !== undefined) {
      const one = await client.command<One>('config.get', { key })
      if (options.json) printJson(one)
      else print(printable(JSON.stringify(one.value)))
      return
    }
    const all = await client.command<{ config: unknown; hash: string; sources: Record<string, string> }>('config.get', {})
    if (options.json) return printJson(all)
    const rows = await Promise.all(Object.keys(all.sources).map((name) => client.command<One>('config.get', { key: name })))
    printTable(
      ['KEY', 'VALUE', 'FROM'],
      rows.map(({ key: name, value, source }) => [printable(name), printable(JSON.stringify(value)), source ?? '-']),
    )
  })

/** A value is JSON where it is some, and a text otherwise: nobody quotes the name of a model twice. */
const valueIn = (text: string): unknown => {
  try {
    return parseExact(text, 'value')
  } catch (error) {
    if (isRuntimeError(error)) throw error
    return text
  }
}

export const configSet = (options: Globals, key: string, text: string): Promise<number> =>
  withClient(
    options,
    async (client) => {
      const { hash } = await client.command<{ hash: string }>('config.get', { key })
      const set = await client.command<One>('config.set', { key, value: valueIn(text), baseHash: hash, by: 'command line' })
      if (options.json) return printJson(set)
      for (const warning of set.warnings ?? []) note(`warning: ${printable(warning)}`)
      print(`${printable(set.key)} is ${printable(JSON.stringify(set.value))}`)
    },
    false,
  )
