/** Files of JSON lines that outlive a kill: each line is on the disk before the writer goes on. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What the client knew: sent, acked, refused, deciding, decided, cancelling, cancelled, answered. */
export type ClientLine = {
  at: number
  pid: number
  what: 'sent' | 'acked' | 'refused' | 'deciding' | 'decided' | 'cancelling' | 'cancelled' | 'answered'
  id: string
  seq?: number
  code?: string
  decision?: string
  why?: string
  status?: string
  text?: string
  runId?: string
}

/** What the tools did to the world. `token` is made anew by every execution that came to its end. */
export type EffectLine = {
  at: number
  pid: number
  phase: 'start' | 'end'
  call: string
  tool: string
  policy: string
  attempt: number
  token?: string
}

export const clientFile = (folder: string): string => join(folder, 'client.jsonl')
export const effectsFile = (folder: string): string => join(folder, 'effects.jsonl')
export const databaseFile = (folder: string): string => join(folder, 'data', 'statecast.db')

export const appendLine = (file: string, line: object): void => {
  const descriptor = openSync(file, 'a')
  writeSync(descriptor, `${JSON.stringify(line)}\n`)
  fsyncSync(descriptor)
  closeSync(descriptor)
}

export const readLines = <Line>(file: string): Line[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Line)
    : []
