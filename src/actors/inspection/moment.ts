/** A tree at rest, as plain data. */
import type { AnyActorRef, AnyMachineSnapshot, AnyStateNode } from 'xstate'
import type { ActorAt, Moment, TransitionRef } from '../../contracts/inspection.ts'
import type { ActorPath, Commit } from '../../contracts/journal.ts'
import { actorPath } from '../replica/paths.ts'
import type { Replica } from '../replica/replica.ts'
import { parentOf } from '../replica/xstate-hooks.ts'
import { innermostFirst, type NodesOf } from './recorder.ts'
import { shown } from './shown.ts'
import { machineOf, refOf } from './verdicts.ts'

/** Of a machine or an effect, each with what it has. */
type Snapshot = Omit<AnyMachineSnapshot, '_nodes'> & NodesOf & { input?: unknown }

export const momentOf = (
  replica: Replica,
  { address, seq, at, epoch }: Pick<Commit, 'address' | 'seq' | 'at' | 'epoch'>,
  textMax?: number,
): Moment => {
  const actors = [...replica.actors()].map(([path, ref]) => actorAt(path, ref, textMax))
  const possible: Moment['possible'] = {}
  for (const [path, ref] of replica.actors()) {
    const { status, _nodes = [] } = ref.getSnapshot() as Snapshot
    if (status === 'active' && _nodes.length > 0) possible[path] = innermostFirst(_nodes).flatMap(declaredBy)
  }
  const timers = [...replica.timers.pending()].map(({ n, from, to, event, dueAt }) => ({ timer: n, from, to, event: event.type, due: dueAt }))
  return { address, seq, at, epoch, actors: inTreeOrder(actors), timers, possible }
}

const declaredBy = ({ always = [], transitions }: AnyStateNode): TransitionRef[] =>
  [...always, ...[...transitions.values()].flat()].flatMap((one) => refOf(one) ?? [])

const actorAt = (path: ActorPath, ref: AnyActorRef, textMax: number | undefined): ActorAt => {
  const { status, value, context, tags, output, error, input, _nodes } = ref.getSnapshot() as Snapshot
  const parent = parentOf(ref)
  const machine = machineOf(ref)
  const plain = (part: unknown) => shown(part, { textMax })
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
