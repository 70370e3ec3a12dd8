/** Lanes of a timeline: one for each role in the tree, whatever incarnation of it lives. */
import type { ActorPath } from '../../../../src/contracts/journal.ts'
import type { Row } from '../fold/protocol.ts'

export const parentPath = (path: ActorPath): ActorPath | undefined => {
  if (path === '/') return undefined
  const end = path.lastIndexOf('/')
  return end === 0 ? '/' : path.slice(0, end)
}

/** `turn#2`, of `/turn#2`. */
export const lastOf = (path: ActorPath): string => path.slice(path.lastIndexOf('/') + 1)
/** An actor whom nobody named is called after the state that began it: `0.refund.paying` is XState's id for it. */
export const plainId = (id: string): string => /^\d+\.(?:.*\.)?([^.]+)$/.exec(id)?.[1] ?? id
const withoutNumber = (part: string): string => part.replace(/#\d+$/, '')

export type Lane = { key: string; name: string; depth: number }

/** What people call the actors of a trace; the root is called by its machine. */
export type Names = ReadonlyMap<ActorPath, string>

/** The role of an actor: its path without the numbers of its incarnations, calls of tools by the tool. */
export const laneKeyOf = (path: ActorPath, names: Names): string => {
  if (path === '/') return '/'
  let at = ''
  let key = ''
  for (const part of path.split('/').slice(1)) {
    at += `/${part}`
    const name = names.get(at)
    key += name === undefined ? `/${withoutNumber(part)}` : `/tool ${name}`
  }
  return key
}

export class Lanes {
  readonly names = new Map<ActorPath, string>()
  readonly #keys = new Map<ActorPath, string>()
  readonly #lanes = new Map<string, Lane>()
  #sorted: Lane[] | undefined
  readonly #root: string

  constructor(root: string) {
    this.#root = root
    this.#add('/')
  }

  take({ states, names }: Row): void {
    for (const [path, name] of Object.entries(names ?? {})) this.names.set(path, name)
    for (const path of Object.keys(states)) this.keyOf(path)
  }

  /** Also of an actor that the index has not named: it gets a lane. */
  keyOf(path: ActorPath): string {
    return this.#keys.get(path) ?? this.#add(path)
  }

  #add(path: ActorPath): string {
    const parent = parentPath(path)
    const parentKey = parent === undefined ? '' : this.keyOf(parent)
    const own = laneKeyOf(path, this.names)
    // What carries out a tool has no chart of its own: it is drawn with its tool.
    const key = parent !== undefined && this.names.has(parent) ? parentKey : own
    this.#keys.set(path, key)
    if (!this.#lanes.has(key)) {
      const depth = key === '/' ? 0 : key.split('/').length - 1
      const name = path === '/' ? this.#root : (this.names.get(path) ?? plainId(withoutNumber(lastOf(path))))
      this.#lanes.set(key, { key, name, depth })
      this.#sorted = undefined
    }
    return key
  }

  /** Parents first, each with what is below it; otherwise as they first appeared. */
  all(): readonly Lane[] {
    if (this.#sorted) return this.#sorted
    const below = (key: string): Lane[] =>
      [...this.#lanes.values()]
        .filter((lane) => lane.key !== '/' && lane.key !== key && parentKeyOf(lane.key, this.#lanes) === key)
        .flatMap((lane) => [lane, ...below(lane.key)])
    const root = this.#lanes.get('/') as Lane
    this.#sorted = [root, ...below('/')]
    return this.#sorted
  }
}

const parentKeyOf = (key: string, lanes: ReadonlyMap<string, Lane>): string => {
  let at = key
  do at = parentPath(at) ?? '/'
  while (!lanes.has(at))
  return at
}
