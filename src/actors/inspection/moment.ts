/** A tree at rest, as plain data. */
import type { AnyActor, AnyActorRef, AnyMachineSnapshot, AnyStateNode } from 'xstate'
import type { ActorAt, Moment, RemoteAt, Rest, TransitionRef } from '../../contracts/inspection.ts'
import type { ActorPath, Commit } from '../../contracts/journal.ts'
import { actorPath } from '../replica/paths.ts'
import type { Replica } from '../replica/replica.ts'
import { parentOf } from '../replica/xstate-hooks.ts'
import { remoteKindOf } from '../root/remote.ts'
import { innermostFirst, type NodesOf } from './recorder.ts'
import { type ShownSize, shown } from './shown.ts'
import { machineOf, refOf } from './verdicts.ts'

/** Of a machine or an effect, each with what it has. */
type Snapshot = Omit<AnyMachineSnapshot, '_nodes'> & NodesOf & { input?: unknown }

export const momentOf = (
  replica: Replica,
  { address, seq, at, epoch }: Pick<Commit, 'address' | 'seq' | 'at' | 'epoch'>,
  size: ShownSize = {},
): Moment => {
  const actors = [...replica.actors()].map(([path, ref]) => actorAt(path, ref, size))
  const possible: Moment['possible'] = {}
  for (const [path, ref] of replica.actors()) {
    const next = possibleNow(ref)
    if (next) possible[path] = next
  }
  const timers = [...replica.timers.pending()].map(({ n, from, to, event, dueAt }) => ({ timer: n, from, to, event: event.type, due: dueAt }))
  return { address, seq, at, epoch, actors: inTreeOrder(actors), timers, possible }
}

/** What the active states declare, in the order in which XState would try it; undefined for what decides nothing any more, or never did. */
const possibleNow = (ref: AnyActorRef): TransitionRef[] | undefined => {
  const { status, _nodes = [] } = ref.getSnapshot() as Snapshot
  return status === 'active' && _nodes.length > 0 ? innermostFirst(_nodes).flatMap(declaredBy) : undefined
}

const declaredBy = ({ always = [], transitions }: AnyStateNode): TransitionRef[] =>
  [...always, ...[...transitions.values()].flat()].flatMap((one) => refOf(one) ?? [])

const actorAt = (path: ActorPath, ref: AnyActorRef, { textMax, sizeMax }: ShownSize): ActorAt => {
  const { status, value, context, tags, output, error, input, _nodes } = ref.getSnapshot() as Snapshot
  const parent = parentOf(ref)
  const machine = machineOf(ref)
  const room = sizeMax === undefined ? undefined : { left: sizeMax }
  const plain = (part: unknown) => shown(part, { textMax, room })
  return {
    path,
    parent: parent && actorPath(parent),
    id: ref.id,
    src: parent && typeof ref.src === 'string' ? ref.src : undefined,
    kind: _nodes === undefined ? 'effect' : 'machine',
    machine,
    status,
    value: plain(value),
    active: (_nodes ?? []).toSorted((a, b) => a.order - b.order).map(({ id }) => id),
    tags: [...(tags ?? [])],
    context: plain(context),
    input: plain(input),
    output: plain(output),
    error: plain(error),
  }
}

/** The same whether the tree was built event by event or from a snapshot: `/turn#10` after `/turn#9`, and what is below one right behind it. */
const inTreeOrder = (actors: ActorAt[]): ActorAt[] => {
  const order = new Intl.Collator('en', { numeric: true })
  return actors.toSorted((a, b) => {
    const [left, right] = [a.path.split('/'), b.path.split('/')]
    for (const [index, part] of left.entries()) {
      const other = right[index]
      if (other === undefined) return 1
      const by = order.compare(part, other)
      if (by !== 0) return by
    }
    return left.length - right.length
  })
}

/** All that an actor has come to, for those who are told of it and look at nothing else. @param next whether also what is possible now */
export const restOf = (ref: AnyActorRef, { textMax, sizeMax }: ShownSize, next: boolean): Rest => {
  const { context, tags, output, error, input } = ref.getSnapshot() as Snapshot
  const room = sizeMax === undefined ? undefined : { left: sizeMax }
  const plain = (part: unknown) => (part === undefined ? undefined : shown(part, { textMax, room }))
  return {
    context: plain(context),
    input: plain(input),
    output: plain(output),
    error: plain(error),
    tags: tags === undefined || tags.size === 0 ? [] : [...tags],
    next: (next ? possibleNow(ref) : undefined) ?? [],
  }
}

/** The effects of a tree that stand for actors with a journal of their own. */
export const remotesIn = (replica: Replica, address: string): RemoteAt[] =>
  [...replica.actors()].flatMap(([path, ref]) => {
    const kind = remoteKindOf((ref as AnyActor).logic)
    const { status, input } = ref.getSnapshot() as Snapshot
    if (kind === undefined || status !== 'active') return []
    const { id = `${address}${path}` } = (input ?? {}) as { id?: string }
    return [{ path, address: { kind, id } }]
  })
