/**
 * The least that a turn can cost: a bare XState actor that takes the steps of the turn, and with `disk` a table in SQLite that gets as many appends as
 * a durable turn needs commits. No validation, no recovery, no effects.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pack } from 'msgpackr'
import { type ActorRefFrom, assign, createActor, setup } from 'xstate'
import type { Message, Script } from '../workload.ts'
import type { Open } from './contender.ts'

export const turnSteps = setup({
  types: { context: {} as { turns: number } },
  actions: { count: assign({ turns: ({ context }) => context.turns + 1 }) },
}).createMachine({
  id: 'steps',
  context: { turns: 0 },
  initial: 'waiting',
  states: {
    waiting: { on: { message: { target: 'prompting', actions: 'count' } } },
    prompting: { on: { asked: 'answering' } },
    answering: { on: { called: 'invoking', answered: 'finishing' } },
    invoking: { on: { returned: 'prompting' } },
    finishing: { on: { written: 'waiting' } },
  },
})

type Append = (session: string, seq: number, entry: object) => Promise<void>

/** What is appended within one turn of the event loop is one transaction, durable when the promise resolves. */
const groupedAppends = (file: string): { append: Append; close: () => void } => {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE entries (session TEXT, seq INTEGER, bytes BLOB, PRIMARY KEY (session, seq)) WITHOUT ROWID')
  const insert = database.prepare('INSERT INTO entries VALUES (?, ?, ?)')
  let group: { rows: [string, number, Uint8Array][]; written: Promise<void> } | undefined
  const open = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const begun = { rows: [] as [string, number, Uint8Array][], written: promise }
    setImmediate(() => {
      group = undefined
      database.exec('BEGIN IMMEDIATE')
      for (const row of begun.rows) insert.run(...row)
      database.exec('COMMIT')
      resolve()
    })
    return begun
  }
  return {
    append: (session, seq, entry) => {
      group ??= open()
      group.rows.push([session, seq, pack(entry)])
      return group.written
    },
    close: () => database.close(),
  }
}

type Turn = { message: Message; script: Script; append: (entry: object) => Promise<void> | undefined; heard: (piece: string) => void }

/** @returns the answer */
export const playTurn = async (actor: ActorRefFrom<typeof turnSteps>, { message, script, append, heard }: Turn): Promise<string> => {
  const { deltas, delta, tool } = script
  actor.send({ type: 'message' })
  await append({ message })
  actor.send({ type: 'asked' })
  if (message === 'tool') {
    await Promise.resolve()
    actor.send({ type: 'called' })
    await append({ call: tool.name, input: tool.input })
    const output = await Promise.resolve(tool.output)
    actor.send({ type: 'returned' })
    await append({ output })
    actor.send({ type: 'asked' })
  }
  let text = ''
  for (let index = 0; index < deltas; index++) {
    await Promise.resolve()
    text += delta
    heard(delta)
  }
  actor.send({ type: 'answered' })
  await append({ text })
  actor.send({ type: 'written' })
  return text
}

export const open: Open = (script, { variant, folder }) => {
  const store = variant === 'disk' ? groupedAppends(join(folder, 'floor.db')) : undefined
  let talks = 0
  return {
    talk: () => {
      const session = `talk-${talks++}`
      const actor = createActor(turnSteps).start()
      let seq = 0
      const append = (entry: object) => store?.append(session, ++seq, { at: Date.now(), ...entry })
      return {
        say: (message, heard) => playTurn(actor, { message, script, append, heard }),
      }
    },
    close: () => store?.close(),
  }
}
