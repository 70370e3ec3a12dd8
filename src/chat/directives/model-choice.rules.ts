/** Which model somebody means. */
import { modelIdOf } from '../../contracts/model-ref.ts'

export type ModelCatalogue = {
  /** In the order in which they are shown; `ref` is provider/model-id. */
  known: readonly { ref: string; alias?: string }[]
  /** References that may be chosen; without it all. The default always may. */
  allowed?: readonly string[]
  default: string
}

type ModelChoice = {
  ref: string
  by: 'default' | 'reference' | 'alias' | 'number' | 'search'
  /** Which account at the provider. */
  profile?: string
}

/** `near` are the references, the best first, that come closest among those that may be chosen. */
type ModelRefusal = { refused: 'unknown' | 'not_allowed'; near: string[] }

type Entry = { ref: string; alias?: string; allowed: boolean }

/** A search is slow for what nobody would type. */
const wordsMax = 200
const scoreMin = 0.65
const nearMin = 0.33
/** What a name is worth in which one of the words is not found: it may be shown, and never chosen. */
const partial = 0.6
const wordMin = 0.5
/** What a name is worth that holds all words, and others. */
const holding = 0.95
const nearMax = 3

/** The models that may be chosen, in the order that numbers count, from 1. */
export const modelList = (catalogue: ModelCatalogue): string[] =>
  entriesOf(catalogue)
    .filter(({ allowed }) => allowed)
    .map(({ ref }) => ref)

/** By `default`, reference, alias, number in {@link modelList} or, if nothing fits exactly, by likeness; with `@profile` after any of them. */
export const chooseModel = (words: string, catalogue: ModelCatalogue): ModelChoice | ModelRefusal => {
  const asked = words.trim()
  const entries = entriesOf(catalogue)
  const exact = exactChoice(asked, entries, catalogue)
  if (exact) return exact
  const { name, profile } = withoutProfile(asked)
  return withProfile(exactChoice(name, entries, catalogue) ?? numbered(name, catalogue) ?? likely(name, entries, catalogue), profile)
}

/** The model that a word names by its reference or alias, nothing less: an ordinary word names none. */
export const namedModel = (word: string, catalogue: ModelCatalogue): ModelChoice | ModelRefusal | undefined => {
  const entries = entriesOf(catalogue)
  const whole = named(word, entries, catalogue)
  const { name, profile } = withoutProfile(word)
  if (whole || profile === undefined) return whole
  const found = named(name, entries, catalogue)
  return found && withProfile(found, profile)
}

/** An @ may as well be part of a reference, so the whole is looked up first. */
const withoutProfile = (asked: string): { name: string; profile?: string } => {
  const [, name, profile] = /^(.*\S)@([^@\s]+)$/s.exec(asked) ?? []
  return name === undefined || profile === undefined ? { name: asked } : { name, profile }
}

const withProfile = (found: ModelChoice | ModelRefusal, profile?: string) => ('ref' in found && profile !== undefined ? { ...found, profile } : found)

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** Known models, then those that are only allowed, then the default, each once. */
const entriesOf = ({ known, allowed, default: usual }: ModelCatalogue): Entry[] => {
  const free = new Set([...(allowed ?? known.map(({ ref }) => ref)), usual].map((ref) => ref.toLowerCase()))
  const entries = new Map<string, Entry>()
  for (const model of [...known, ...(allowed ?? []).map((ref) => ({ ref })), { ref: usual }]) {
    const key = model.ref.toLowerCase()
    if (!entries.has(key)) entries.set(key, { ...model, allowed: free.has(key) })
  }
  return [...entries.values()]
}

const exactChoice = (name: string, entries: Entry[], catalogue: ModelCatalogue): ModelChoice | ModelRefusal | undefined =>
  same(name, 'default') ? { ref: catalogue.default, by: 'default' } : named(name, entries, catalogue)

const named = (name: string, entries: Entry[], catalogue: ModelCatalogue): ModelChoice | ModelRefusal | undefined => {
  const ways = [
    ['reference', entries.filter(({ ref }) => same(ref, name))],
    ['alias', entries.filter(({ alias }) => alias !== undefined && same(alias, name))],
    ['reference', entries.filter(({ ref }) => same(modelIdOf(ref), name))],
  ] as const
  const way = ways.find(([, found]) => found.length > 0)
  if (!way) return undefined
  const [by, found] = way
  // The same model at several providers: the one that is in use, or the first that may be.
  const chosen = found.find(({ ref }) => same(ref, catalogue.default)) ?? found.find(({ allowed }) => allowed)
  return chosen ? { ref: chosen.ref, by } : { refused: 'not_allowed', near: nearest(name, entries, catalogue).map(({ ref }) => ref) }
}

const numbered = (name: string, catalogue: ModelCatalogue): ModelChoice | ModelRefusal | undefined => {
  if (!/^\d{1,6}$/.test(name)) return undefined
  const ref = modelList(catalogue)[Number(name) - 1]
  return ref === undefined ? { refused: 'unknown', near: modelList(catalogue).slice(0, nearMax) } : { ref, by: 'number' }
}

const likely = (name: string, entries: Entry[], catalogue: ModelCatalogue): ModelChoice | ModelRefusal => {
  const [best, ...others] = nearest(name, entries, catalogue)
  if (best && best.score >= scoreMin) return { ref: best.ref, by: 'search' }
  return { refused: 'unknown', near: [...(best ? [best] : []), ...others].map(({ ref }) => ref) }
}

const nearest = (name: string, entries: Entry[], catalogue: ModelCatalogue): { ref: string; score: number }[] => {
  if (name.length > wordsMax) return []
  const preferred = (ref: string) => (same(ref, catalogue.default) ? 1 : 0)
  // Who says "sonnet 4" does not mean 4.5; who says "sonnet" may well mean the one in use.
  const versions = (ref: string) => (/\d/.test(name) ? tokensOf(ref).filter((token) => /\d/.test(token)).length : 0)
  return entries
    .filter(({ allowed }) => allowed)
    .map(({ ref, alias }) => ({ ref, score: Math.max(...[ref, modelIdOf(ref), alias ?? ''].map((text) => likeness(name, text))) }))
    .filter(({ score }) => score >= nearMin)
    .sort((a, b) => b.score - a.score || versions(a.ref) - versions(b.ref) || preferred(b.ref) - preferred(a.ref))
    .slice(0, nearMax)
}

const tokensOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** From 0 to 1: how well each word of what was asked is found in a name; 1 only where the name is nothing else. */
const likeness = (asked: string, name: string): number => {
  const [wanted, given] = [tokensOf(asked), tokensOf(name)]
  if (wanted.length === 0 || given.length === 0) return 0
  if (wanted.join('') === given.join('')) return 1
  const found = wanted.map((word) => Math.max(...given.map((token) => wordLikeness(word, token))))
  const mean = found.reduce((sum, score) => sum + score, 0) / found.length
  // "claude haiku 4 5" shares most words with the Sonnet of that number, and is another model.
  const whole = found.every((score) => score >= wordMin) ? 1 : partial
  return mean * whole * holding
}

const wordLikeness = (word: string, token: string): number => {
  if (word === token) return 1
  // One letter, or the digit of a version, is like nothing but itself.
  if (word.length < 2) return 0
  if (token.startsWith(word)) return 0.9
  if (word.length > 2 && token.includes(word)) return 0.8
  return 1 - distance(word, token) / Math.max(word.length, token.length)
}

/** Letters to insert, leave out or change to make one word of the other. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length] ?? 0
}
