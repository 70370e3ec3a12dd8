/** What takes part in the question of turns: a module that opens conversations, measured in a process of its own. */
import type { Message, Script } from '../workload.ts'

export type Talk = {
  /** Sends the message, hands over each piece of the answer as it comes, and resolves to the whole of it when the turn is over. */
  say(message: Message, heard: (piece: string) => void): Promise<string>
}

export type Contender = {
  /** A conversation that nobody has used. */
  talk(): Talk
  close?(): Promise<void> | void
}

/** Every module of a contender exports this as `open`. @param folder for whatever it stores */
export type Open = (script: Script, options: { variant: string; folder: string }) => Promise<Contender> | Contender

export type Entry = {
  name: string
  /** File of the module. */
  module: string
  variant: string
  env?: Record<string, string>
}

const here = (file: string): string => new URL(file, import.meta.url).href

export const floors = {
  memory: { name: 'floor: XState', module: here('floor.ts'), variant: 'memory' },
  charts: { name: 'floor: our statecharts, bare XState', module: here('charts.ts'), variant: 'memory' },
  disk: { name: 'floor: XState, grouped SQLite appends', module: here('floor.ts'), variant: 'disk' },
} satisfies Record<string, Entry>

export const ours = {
  memory: { name: 'statecast, in memory', module: here('statecast.ts'), variant: 'memory' },
  disk: { name: 'statecast, on disk and synced', module: here('statecast.ts'), variant: 'disk' },
} satisfies Record<string, Entry>

/** On one nats-server with its default of syncing. */
export const onNats = {
  floor: { name: 'floor: XState, JetStream appends, deltas put together', module: here('floor.nats.ts'), variant: 'nats' },
  ours: { name: 'statecast, on NATS JetStream', module: here('statecast.nats.ts'), variant: 'nats' },
} satisfies Record<string, Entry>
