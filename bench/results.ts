/** Answers on disk: one file a day, in it the last answer to each question of that day. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Table } from './measure.ts'

export type Answer = {
  question: string
  /** What makes these figures again. */
  command: string
  /** ISO 8601, UTC. */
  at: string
  commit: string
  /** Fingerprint of `src/` as it was measured; answers from before 22 November 2026 have none. */
  sources?: string
  machine: string
  versions: string
  /** Of the machine, before the question was asked. */
  load: number
  tables: Table[]
}
type Answers = Record<string, Answer>

const folder = join(import.meta.dirname, 'results')

/** A file of an older form holds no answers that anybody can read. */
const answersIn = (file: string): Answers => (JSON.parse(readFileSync(file, 'utf8')) as { answers?: Answers }).answers ?? {}

/** Nothing that was timed has more digits than these. */
const rounded = (_: string, value: unknown): unknown => (typeof value === 'number' ? Number(value.toPrecision(6)) : value)

/** @returns the file, as a path from the repository */
export const keep = (answers: Answers): string => {
  const name = `${new Date().toISOString().slice(0, 10)}.json`
  const file = join(folder, name)
  mkdirSync(folder, { recursive: true })
  const earlier = existsSync(file) ? answersIn(file) : {}
  writeFileSync(file, `${JSON.stringify({ answers: { ...earlier, ...answers } }, rounded, 2)}\n`)
  return `bench/results/${name}`
}

/** The newest answer to each question, from all days. */
export const newest = (): Answers => {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : []
  return Object.assign({}, ...files.sort().map((name) => answersIn(join(folder, name)))) as Answers
}
