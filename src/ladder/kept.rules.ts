/** What a run keeps by name and only adds to, however much that comes to. Pure. */
import { constant, constantAt, constantWith } from '../index.ts'
import { fnvBegin, fnvNext } from './names.rules.ts'

/**
 * A record, as long as it is short; then lists of entries, by the hashes of their names. All of it is constant, so one entry more costs (copies, digests) as much
 * as there stands on the way to it, and not as much as there is.
 */
export type Kept<Value> = Readonly<Record<string, Value>> | Part<Value>
type Entry<Value> = readonly [name: string, value: Value]
type Part<Value> = readonly Entry<Value>[] | readonly Part<Value>[]

const recordMax = 32
const listMax = 16
/** Of a hash, for each way that a part leads on. */
const bits = 4
const depthMax = 32 / bits

export const kept = <Value>(all: Kept<Value>, name: string): Value | undefined => {
  if (isRecord(all)) return all[name]
  let part = all
  for (let hash = hashOf(name); !isList(part); hash >>>= bits) part = part[wayOf(hash)] as Part<Value>
  return part[placeOf(part, name)]?.[1]
}

/** With an entry more, or another one in its place. */
export const keep = <Value>(all: Kept<Value>, name: string, value: Value): Kept<Value> => {
  if (!isRecord(all)) return partWith(all, constant([name, value]), hashOf(name), 0)
  const record = constantWith<Record<string, Value>>(all, { [name]: value })
  const entries = Object.entries(record)
  return entries.length > recordMax ? branched(entries, 0) : record
}

export const entriesOf = <Value>(all: Kept<Value>): Entry<Value>[] => (isRecord(all) ? Object.entries(all) : entriesIn(all, []))

/** As one record. @param names in their order */
export const recordOf = <Value>(all: Kept<Value>, names: readonly string[]): Record<string, Value> => {
  const found = new Map(entriesOf(all))
  const record: Record<string, Value> = {}
  for (const name of names) if (found.has(name)) record[name] = found.get(name) as Value
  return record
}

const partWith = <Value>(part: Part<Value>, entry: Entry<Value>, hash: number, depth: number): Part<Value> => {
  if (!isList(part)) {
    const way = wayOf(hash)
    return constantAt(part, way, partWith(part[way] as Part<Value>, entry, hash >>> bits, depth + 1))
  }
  const list = constantAt(part, placeOf(part, entry[0]), entry)
  return list.length > listMax && depth < depthMax ? branched(list, depth) : list
}

const branched = <Value>(entries: readonly Entry<Value>[], depth: number): Part<Value> => {
  const parts = Array.from({ length: 1 << bits }, (): Entry<Value>[] => [])
  for (const entry of entries) parts[wayOf(hashOf(entry[0]) >>> (depth * bits))]?.push(entry)
  return constant(parts.map((part) => (part.length > listMax && depth + 1 < depthMax ? branched(part, depth + 1) : part)))
}

/** Where it stands, or would. */
const placeOf = (list: readonly Entry<unknown>[], name: string): number => {
  let place = 0
  while (place < list.length && list[place]?.[0] !== name) place++
  return place
}

const entriesIn = <Value>(part: Part<Value>, into: Entry<Value>[]): Entry<Value>[] => {
  if (isList(part)) for (const entry of part) into.push(entry)
  else for (const one of part) entriesIn(one, into)
  return into
}

const isRecord = <Value>(all: Kept<Value>): all is Readonly<Record<string, Value>> => !Array.isArray(all)
const isList = <Value>(part: Part<Value>): part is readonly Entry<Value>[] => part.length === 0 || typeof part[0]?.[0] === 'string'

/** FNV-1a, whose last bits differ most where names are alike. */
const hashOf = (name: string): number => {
  let hash = fnvBegin
  for (let at = 0; at < name.length; at++) hash = fnvNext(hash, name.charCodeAt(at))
  return hash
}
const wayOf = (hash: number): number => hash & ((1 << bits) - 1)
