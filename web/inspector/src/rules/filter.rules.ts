/** Which commits are of interest: the others are dimmed, and stay where they are. */
import type { ActorPath } from '../../../../src/contracts/journal.ts'
import type { Mark, Row } from '../fold/protocol.ts'
import { lastOf } from './lanes.rules.ts'
import { moodOf, stateText } from './moods.rules.ts'

export type Filter = 'all' | 'inputs' | 'model' | 'tools' | 'effects' | 'errors'

/** Of a session, and of an actor of an author, whose effects can be anything. */
export const filtersOf = (kind: string | undefined): readonly Filter[] =>
  kind === undefined || kind === 'session' ? ['all', 'inputs', 'model', 'tools', 'errors'] : ['all', 'inputs', 'effects', 'errors']

const isModel = ({ actor }: Mark): boolean => lastOf(actor).startsWith('model#')
const isTool = ({ actor }: Mark): boolean => /\/tool-\d+#/.test(actor)
const isTrouble = ({ kind }: Mark): boolean => kind === 'error' || kind === 'doubt'

const fits: Record<Filter, (row: Row) => boolean> = {
  all: () => true,
  inputs: ({ marks }) => marks.some(({ kind }) => kind === 'message'),
  model: ({ marks }) => marks.some(isModel),
  tools: ({ marks, states }) => marks.some(isTool) || Object.keys(states).some((path) => /\/tool-\d+#/.test(path)),
  effects: ({ marks, states }) => marks.some(({ kind, actor }) => actor !== '/' && kind !== 'message') || Object.values(states).includes('active'),
  errors: (row) => isLoud(row),
}

export const isOfInterest = (row: Row, filter: Filter, words: string): boolean => {
  if (!fits[filter](row)) return false
  const sought = words.trim().toLowerCase()
  if (sought === '') return true
  const said = [...row.marks.flatMap(({ event, words: text, actor }) => [event, text, actor]), ...Object.values(row.states).map(stateText)]
  return said.some((text) => text.toLowerCase().includes(sought))
}

/** An error, a wait for a person, or a kill: what somebody who searches for a fault goes to. */
export const isLoud = (row: Row): boolean =>
  row.killed === true ||
  row.crash !== undefined ||
  row.quarantine !== undefined ||
  row.refused !== undefined ||
  row.marks.some(isTrouble) ||
  Object.entries(row.states).some(([path, value]) => ['fail', 'doubt', 'wait'].includes(moodOf(value, path)))

/** Whether the commit has to do with an actor: an input of it, or another state. */
export const touches = (row: Row, actor: ActorPath): boolean => actor in row.states || row.marks.some((mark) => mark.actor === actor)

/** The next commit in a direction of which something is so. */
export const seek = (rows: readonly Row[], from: number, step: 1 | -1, so: (row: Row) => boolean): number | undefined => {
  for (let seq = from + step; seq >= 1 && seq <= rows.length; seq += step) if (so(rows[seq - 1] as Row)) return seq
  return undefined
}
