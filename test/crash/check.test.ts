/** The judge is judged: each kind of harm, done by hand to a session that is fine, is found. */
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { check } from './check.ts'
import { type ClientLine, clientFile, databaseFile, type EffectLine, effectsFile, readLines } from './lines.ts'
import { aFolder, play } from './runs.ts'

const base = aFolder()
const fine = join(base, 'fine')

beforeAll(async () => {
  mkdirSync(fine)
  expect((await play({ kills: [] }, fine)).violations).toEqual([])
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

const inDatabase = (statement: string) => (folder: string) => {
  const database = new DatabaseSync(databaseFile(folder))
  database.exec(statement)
  database.close()
}
const addEffect = (make: (first: EffectLine) => object) => (folder: string) => {
  const [first] = readLines<EffectLine>(effectsFile(folder))
  appendFileSync(effectsFile(folder), `${JSON.stringify(make(first!))}\n`)
}
const editClient = (edit: (line: ClientLine) => ClientLine[]) => (folder: string) =>
  writeFileSync(
    clientFile(folder),
    readLines<ClientLine>(clientFile(folder))
      .flatMap(edit)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  )

test.each<[string, (folder: string) => void, RegExp]>([
  ['a tool marked once that ran twice', addEffect((first) => ({ ...first, attempt: 2 })), /marked once and ran 2 times/],
  ['a tool that ran after its result', addEffect((first) => ({ ...first, at: Date.now() + 1000 })), /ran again after its result/],
  [
    'a result that no execution returned',
    (folder) => writeFileSync(effectsFile(folder), readFileSync(effectsFile(folder), 'utf8').replace(/"token":"\w+"/, '"token":"forged"')),
    /not what any execution of it returned/,
  ],
  [
    'an acknowledged message that is not there',
    editClient((line) => (line.id === 'm2' ? [{ ...line, id: 'm9' }, line] : [line])),
    /m9, acknowledged 1 times, is 0 times/,
  ],
  ['a message without an answer', editClient((line) => (line.what === 'answered' && line.id === 'm3' ? [] : [line])), /0 answers to m3/],
  ['a message with two answers', editClient((line) => (line.what === 'answered' ? [line, line] : [line])), /2 answers to m1/],
  [
    'an answer that the journal does not hold',
    editClient((line) => [line.what === 'answered' ? { ...line, text: `${line.text}!` } : line]),
    /does not hold the answer/,
  ],
  ['a byte that changed', inDatabase("UPDATE frames SET bytes = CAST(replace(bytes, 'red', 'tin') AS BLOB) WHERE seq = 3"), /breaks at 3|cannot/],
  ['a lost end', inDatabase('DELETE FROM frames WHERE seq = (SELECT max(seq) FROM frames)'), /the head says/],
  ['a gap', inDatabase('DELETE FROM frames WHERE seq = 4'), /frame 4 of session.shop calls itself 5/],
  ['work that is still to be done', inDatabase('UPDATE roots SET wake_at = 0'), /wants to be woken/],
])('the judge finds %s', (name, harm, expected) => {
  const folder = join(base, name.replaceAll(' ', '-'))
  cpSync(fine, folder, { recursive: true })

  harm(folder)

  const { violations } = check(folder)
  expect(violations.join('\n')).toMatch(expected)
})
