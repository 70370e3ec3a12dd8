/** The least that steps can cost which outlive their process: plain code, and a row in SQLite for each. Nothing checks, recovers or reports. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { historyKept, historyMax, type Open } from './contender.ts'

export const open: Open = ({ fan }, { folder }) => {
  const database = new DatabaseSync(join(folder, 'floor.db'))
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE steps (run INTEGER, seq INTEGER, name TEXT, output TEXT, PRIMARY KEY (run, seq)) WITHOUT ROWID')
  const insert = database.prepare('INSERT INTO steps VALUES (?, ?, ?, ?)')
  let runs = 0
  return {
    async steps(count, stepped) {
      const run = runs++
      const state = { count: 0 }
      for (let step = 0; step < count; step++) {
        const output = await (async () => {
          stepped()
          state.count++
          return `step ${step} is done`
        })()
        insert.run(run, step, `step-${step}`, JSON.stringify({ state, output }))
      }
      return state.count
    },
    async fan() {
      const run = runs++
      const names = Array.from({ length: fan }, (_, index) => `specialist-${index}`)
      insert.run(run, 0, 'choose', JSON.stringify(names))
      const said = await Promise.all(names.map(async (name) => `${name} has looked at it`))
      database.exec('BEGIN IMMEDIATE')
      for (const [index, text] of said.entries()) insert.run(run, index + 1, names[index] as string, JSON.stringify(text))
      database.exec('COMMIT')
      insert.run(run, fan + 1, 'merge', JSON.stringify(said))
      return said.length
    },
    async talk(turns, said) {
      const run = runs++
      let history: string[] = []
      for (let turn = 0; turn < turns; turn++) {
        said()
        history.push(`message ${turn}`, `answer ${turn}`)
        if (history.length > historyMax) history = ['a summary', ...history.slice(-historyKept)]
        insert.run(run, turn, 'turn', JSON.stringify(history.slice(-2)))
      }
    },
    close: () => database.close(),
  }
}
