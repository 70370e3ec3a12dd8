/** Names for the actors of one root. */
import type { AnyActorRef } from 'xstate'
import type { ActorPath } from '../../contracts/journal.ts'
import { parentOf } from './xstate-hooks.ts'

/** How many ids of children a parent remembers before those that have ended are forgotten together; so again at every doubling. */
const idsMax = 1024

/** Of the actors of all roots: a table for each would take more than what is in it. */
const pathOf = new WeakMap<AnyActorRef, ActorPath>()
/** Also of one that has ended. */
export const actorPath = (ref: AnyActorRef): ActorPath => pathOf.get(ref) ?? '?'

/** How often each id was used below one parent. All forgotten ids were used at most `floor` times. */
type Uses = { floor: number; ids: Map<string, number> }
export type PersistedUses = [ActorPath, number, [string, number][]][]

/**
 * Gives every actor of one root a path. A path carries incarnations (`/turn#2`), or a second child under one id would inherit
 * what was meant for the first.
 */
export class Paths {
  readonly #refs = new Map<ActorPath, AnyActorRef>()
  readonly #uses: Map<ActorPath, Uses>

  constructor(uses: PersistedUses = []) {
    this.#uses = new Map(uses.map(([path, floor, ids]) => [path, { floor, ids: new Map(ids) }]))
  }

  /** @param restoring true while XState rebuilds actors that had their incarnation before */
  add(ref: AnyActorRef, restoring: boolean): ActorPath {
    const parent = parentOf(ref)
    const path = parent ? this.#below(this.of(parent), ref.id, restoring) : '/'
    pathOf.set(ref, path)
    this.#refs.set(path, ref)
    return path
  }

  #below(above: ActorPath, id: string, restoring: boolean): ActorPath {
    const uses = this.#uses.get(above) ?? { floor: 0, ids: new Map() }
    this.#uses.set(above, uses)
    const before = uses.ids.get(id)
    const incarnation = restoring && before !== undefined ? before : (before ?? uses.floor) + 1
    uses.ids.set(id, incarnation)
    if (uses.ids.size >= idsMax && Number.isInteger(Math.log2(uses.ids.size))) this.#forgetEnded(above, uses, id)
    return childPath(above, id, incarnation)
  }

  #forgetEnded(above: ActorPath, uses: Uses, newest: string): void {
    for (const [id, incarnation] of uses.ids) {
      if (id === newest || this.#refs.has(childPath(above, id, incarnation))) continue
      uses.ids.delete(id)
      uses.floor = Math.max(uses.floor, incarnation)
    }
  }

  /** The actor has ended: nothing will reach this path again, nor what is left below it. @returns all of these */
  drop(path: ActorPath): [ActorPath, AnyActorRef][] {
    const ref = this.#refs.get(path)
    if (path === '/' || ref === undefined) return []
    const gone: [ActorPath, AnyActorRef][] = [[path, ref]]
    if (this.#uses.has(path)) for (const other of this.#refs) if (other[0].startsWith(`${path}/`)) gone.push(other)
    for (const [one] of gone) {
      this.#refs.delete(one)
      this.#uses.delete(one)
    }
    return gone
  }

  of(ref: AnyActorRef): ActorPath {
    return pathOf.get(ref) ?? '?'
  }

  get(path: ActorPath): AnyActorRef | undefined {
    return this.#refs.get(path)
  }

  entries(): IterableIterator<[ActorPath, AnyActorRef]> {
    return this.#refs.entries()
  }

  persisted(): PersistedUses {
    return [...this.#uses].map(([path, { floor, ids }]) => [path, floor, [...ids]])
  }
}

const childPath = (above: ActorPath, id: string, incarnation: number): ActorPath => `${above === '/' ? '' : above}/${segmentOf(id)}#${incarnation}`

/** An id may hold what separates the parts of a path. */
const segmentOf = (id: string): string => id.replace(/[/#%]/g, encodeURIComponent)
const idOf = (segment: string): string => segment.replace(/%(?:2F|23|25)/g, decodeURIComponent)

/** The actor's id, as its parent calls it; '' of the root. */
export const idAt = (path: ActorPath): string => idOf(path.slice(path.lastIndexOf('/') + 1).replace(/#\d+$/, ''))

/** The path of the same actor where ids are others. */
export const pathWith = (path: ActorPath, rename: (id: string) => string): ActorPath =>
  path
    .split('/')
    .map((segment) => {
      const at = segment.indexOf('#')
      return at === -1 ? segment : `${segmentOf(rename(idOf(segment.slice(0, at))))}${segment.slice(at)}`
    })
    .join('/')
