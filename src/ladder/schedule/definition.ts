/** What an author writes: what runs, when, and what happens where runs overlap or were missed. */

import { LadderError } from '../errors.ts'
import { Executable } from '../executable.ts'
import { anything, type KindsOf, text } from '../given.ts'
import { isKindName } from '../names.rules.ts'
import { type Cadence, type CheckedCadence, checkedCadence, wrong } from './cadence.ts'
import type { Plan } from './schedule.context.ts'

/** What is known of a firing where its input is made. */
export type FiringInput = { name: string; runId: string; due: Date; by: 'clock' | 'hand' }

export type ScheduleDefinition<Input> = {
  /** Also its kind: lower-case letters, digits and hyphens, at most 32. */
  name: string
  description?: string
  /** What it begins each time. */
  run: Executable<Input, unknown>
  /** What that is given, or what makes it of the firing. */
  input?: Input | ((firing: FiringInput) => Input | Promise<Input>)
  /** What happens to a firing while the run before it is under way. Default: `skip`. */
  overlap?: Plan['overlap']
  /** What happens to firings that were missed, while no process was there, say: the last of them, each, or none. Default: `once`. */
  catchUp?: Plan['catchUp']
  /** ms; with `catchUp: 'none'`, a firing that is later than that was missed. Default: 60,000. */
  graceMs?: number
  /** Firings that it remembers. Default: 50. */
  keep?: number
} & Cadence

export const scheduleKinds: KindsOf<ScheduleDefinition<never>> = {
  name: anything,
  description: text,
  run: anything,
  input: anything,
  overlap: anything,
  catchUp: anything,
  graceMs: anything,
  keep: anything,
  at: anything,
  every: anything,
  cron: text,
  timezone: text,
}

export type CheckedSchedule = { name: string; run: Executable<unknown, unknown>; cadence: CheckedCadence; plan: Plan; input: unknown }

/** @throws LadderError SCHEDULE_CONFIG naming what is wrong with it */
export const checkedSchedule = (definition: ScheduleDefinition<never>): CheckedSchedule => {
  const { name, run, input, overlap = 'skip', catchUp = 'once', graceMs = 60_000, keep = 50 } = definition
  if (!isKindName(name))
    throw new LadderError('SCHEDULE_CONFIG', `'${String(name).slice(0, 40)}' is no name of a schedule`, {
      hint: 'use lower-case letters, digits and hyphens, at most 32',
    })
  if (!(run instanceof Executable)) throw wrong(name, 'has nothing to run', 'give what workflow(), agent() or supervisor() returned as run')
  if (run.name === name) throw wrong(name, 'is named like what it runs', 'give one of them another name: both are kinds of actors')
  if (!['skip', 'queue', 'allow'].includes(overlap)) throw wrong(name, `has the overlap '${String(overlap)}'`, 'write skip, queue or allow')
  if (!['once', 'all', 'none'].includes(catchUp)) throw wrong(name, `has the catchUp '${String(catchUp)}'`, 'write once, all or none')
  if (!Number.isFinite(graceMs) || graceMs < 0) throw wrong(name, `has graceMs ${String(graceMs)}`, 'it is ms, from 0 on')
  if (!Number.isInteger(keep) || keep < 1 || keep > keepMax)
    throw wrong(name, `keeps ${String(keep)} firings`, `it is a whole number from 1 to ${keepMax}`)
  const cadence = checkedCadence(name, definition)
  return { name, run, input, cadence, plan: { text: cadence.text, overlap, catchUp, graceMs, keep } }
}

const keepMax = 1_000
