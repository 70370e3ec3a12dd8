/** Rows of the list, and what is found in it. */
import type { ActorListed, SessionListed } from '../live/commands.ts'
import type { Listed } from '../model.ts'
import { moodOf, stateText } from './moods.rules.ts'

export const listedSession = ({ key, state, seq, at, busy, waiting, title, last, origin }: SessionListed): Listed => {
  const mood = waiting > 0 ? 'wait' : moodOf(state)
  return {
    kind: 'session',
    id: key,
    seq,
    at,
    mood: mood === 'rest' && busy ? 'run' : mood,
    state: waiting > 0 ? 'waits for you' : stateText(state),
    words: last ?? title ?? '',
    ...(origin && { origin }),
  }
}

export const listedActor = ({ kind, id, status, states, seq, at, origin, quarantine, error }: ActorListed): Listed => {
  const state = quarantine ? 'quarantined' : error ? error.code : (states['/'] ?? status ?? '')
  return {
    kind,
    id,
    seq,
    at,
    mood: error ? 'fail' : moodOf(state),
    state: stateText(state),
    words: error?.message ?? quarantine?.message ?? kind,
    ...(origin && { origin: { key: origin.id, at: origin.at } }),
  }
}

export type Facet = 'all' | 'waiting' | 'failed' | 'others'

export type ListRow = Listed & { isFork: boolean }

const nameOf = ({ kind, id }: Pick<Listed, 'kind' | 'id'>): string => `${kind}/${id}`

/** Forks hang under their origin, where that is in the list. */
export const rowsOf = (list: readonly Listed[], words: string, facet: Facet): ListRow[] => {
  const sought = words.trim().toLowerCase()
  const fits = ({ id, words: said, state, mood }: Listed): boolean =>
    (facet === 'waiting' ? mood === 'wait' || mood === 'doubt' : facet === 'failed' ? mood === 'fail' : true) &&
    [id, said, state].some((text) => text.toLowerCase().includes(sought))
  const found = list.filter(fits)
  // A fork is of the same kind as what it was made of, and ids are of one kind only.
  const names = new Set(found.map(nameOf))
  const originOf = ({ kind, origin }: Listed) => origin && nameOf({ kind, id: origin.key })
  const placed = new Set<Listed>()
  const withForks = (one: Listed, isFork: boolean): ListRow[] => {
    if (placed.has(one)) return []
    placed.add(one)
    return [{ ...one, isFork }, ...found.filter((other) => originOf(other) === nameOf(one)).flatMap((fork) => withForks(fork, true))]
  }
  const isHanging = (one: Listed) => names.has(originOf(one) ?? '')
  return found.filter((one) => !isHanging(one)).flatMap((one) => withForks(one, false))
}

export const countOf = (list: readonly Listed[], facet: Facet): number => rowsOf(list, '', facet).length
