/** How many bytes does a turn leave on disk, beside what was said in it? */

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { partsOf } from '../src/runtime/index.ts'
import { amount, type Goal, goal, plainTable, show, type Table } from './measure.ts'
import { benchRuntime, instantModel, script, turn, withFolder } from './workload.ts'

const sessions = amount(100) < 10 ? 4 : 100
const turnsEach = 10
const turns = sessions * turnsEach

/** 1.2 times what was said, and a KiB for everything else. */
const bytesMax = (content: number): number => 1.2 * content + 1024

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)

/** Bytes in the pages of the file that hold nothing. */
const unusedIn = (folder: string): number => {
  const database = new DatabaseSync(join(folder, 'statecast.db'), { readOnly: true })
  const row = database.prepare('SELECT sum(unused) AS unused FROM dbstat').get()
  database.close()
  return Number(row?.unused)
}

type Stored = { frames: number; files: number; unused: number; content: number }

/** @param answer characters; the message is as long as its name */
const stored = (message: 'plain' | 'tool', answer: number): Promise<Stored> =>
  withFolder(async (folder) => {
    const piece = 'words that an answer is made of. '
    const text = piece.repeat(Math.ceil(answer / piece.length)).slice(0, answer)
    const model = instantModel(text.match(/.{1,5}/g) ?? [])
    const open = () => benchRuntime({ transport: `embedded:${folder}` }, model)
    await (await open()).close()
    const empty = sizeOf(folder)
    const runtime = await open()
    for (let session = 0; session < sessions; session++)
      for (let index = 0; index < turnsEach; index++) await turn(runtime, `session-${session}`, message, answer)
    const { journal } = partsOf(runtime).transport
    let frames = 0
    for (let session = 0; session < sessions; session++)
      for (const { bytes } of await journal.read({ kind: 'session', id: `session-${session}` }, 1)) frames += bytes.length
    await runtime.close()
    const tool = message === 'tool' ? JSON.stringify(script.tool.input).length + script.tool.output.length : 0
    return {
      frames: frames / turns,
      files: (sizeOf(folder) - empty) / turns,
      unused: unusedIn(folder) / turns,
      content: message.length + answer + tool,
    }
  })

export const run = async (): Promise<Table[]> => {
  const tables: Table[] = []
  for (const [message, answer] of [
    ['plain', 500],
    ['tool', 500],
    ['plain', 10_000],
  ] as const) {
    const { frames, files, unused, content } = await stored(message, answer)
    const goals: Goal[] = [
      goal('frames of the journal', frames, 'at most', bytesMax(content), 'bytes a turn'),
      goal('all files, closed', files, 'at most', bytesMax(content), 'bytes a turn'),
    ]
    const title = `bytes of a ${message} turn with an answer of ${answer.toLocaleString('en')} characters; ${turnsEach} turns a session`
    const table = plainTable(
      title,
      'bytes a turn',
      [
        ['what was said: message, answer, tool input and result', content],
        ['frames of the journal', frames],
        ['all files, closed: frames, heads, snapshots, pages', files],
        ['… of which pages have unused', unused],
      ],
      goals,
    )
    show(table)
    tables.push(table)
  }
  return tables
}

if (import.meta.main) await run()
