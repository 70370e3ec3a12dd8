/** What a root is to whoever reads it: a copy, so that the reader and the machine share nothing. */
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate'
import type { ErrorBody } from '../../contracts/errors.ts'
import { detached } from '../../contracts/plain.ts'
import type { Registration } from '../registration.ts'
import type { Replica } from '../replica/replica.ts'

/** @property value undefined for an effect */
export type ActorView = {
  status: 'active' | 'done' | 'error' | 'stopped'
  value: unknown
  context: unknown
  output: unknown
  error?: unknown
  /** These only where they were asked for. */
  tags?: string[]
  children?: Record<string, ChildView>
}
/**
 * `true`: with its tags, and all that is below it, which is much for a conversation, and seldom asked for. `outline`: its status and its tags alone, which are
 * as little however much it remembers.
 */
export type Extent = boolean | 'outline'
/** @property src its name under `setup({ actors })` */
export type ChildView = ActorView & { src?: string }

export type RootView = {
  seq: number
  epoch: number
  quarantine: ErrorBody | undefined
  /** Undefined for a root that does not exist yet. */
  snapshot: ActorView | undefined
}

/** What a view is made of. */
type Readable = { replica: Replica | undefined; seq: number; epoch: number; quarantine: ErrorBody | undefined }

export const viewOf = ({ replica, seq, epoch, quarantine }: Readable, extent: Extent = false): RootView => {
  const snapshot = replica && (replica.actor.getSnapshot() as AnyMachineSnapshot)
  return { seq, epoch, quarantine, snapshot: snapshot && (extent === 'outline' ? outlineOf(snapshot) : actorView(snapshot, extent)) }
}

const outlineOf = ({ status, tags }: AnyMachineSnapshot): ActorView => ({
  status,
  tags: [...(tags ?? [])],
  value: undefined,
  context: undefined,
  output: undefined,
})

const actorView = ({ status, value, context, output, error, tags, children }: AnyMachineSnapshot, whole: boolean): ActorView => ({
  ...detached({ status, value, context, output, error }),
  ...(whole ? { tags: [...(tags ?? [])], children: childViews(children) } : {}),
})

const childViews = (children: Record<string, AnyActorRef | undefined> = {}): Record<string, ChildView> =>
  Object.fromEntries(
    Object.entries(children).flatMap(([id, ref]) =>
      ref ? [[id, { ...actorView(ref.getSnapshot() as AnyMachineSnapshot, true), ...(typeof ref.src === 'string' ? { src: ref.src } : {}) }]] : [],
    ),
  )

/** Waking takes longer than waiting for what comes soon. */
const soonMs = 120_000
export const dueSoon = (root: Pick<Readable, 'replica' | 'quarantine'>, now: number): boolean => {
  const due = root.quarantine ? null : (root.replica?.timers.nextDue() ?? null)
  return due !== null && due - now < soonMs
}

/** Whether the journal of a root says that it is to be removed: the host that finds it finishes that. */
export const isDeleted = ({ isDeleted: is }: Registration, replica: Replica | undefined): boolean =>
  is !== undefined && replica?.status === 'done' && is(replica.actor.getSnapshot().output)
