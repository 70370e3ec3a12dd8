/** The bounds of a host and of its roots, and what they are when nobody says. */
import type { RootLimits } from '../root/root-host.ts'

export type HostLimits = RootLimits & {
  /** ms without anything to do after which a root leaves memory. */
  idleMs: number
  /** Roots in memory above which the idlest leave early. */
  liveMax: number
}

export const defaultLimits: HostLimits = {
  queueMax: 10_000,
  snapshotEvery: 100,
  crashMax: 5,
  crashPeriodMs: 60_000,
  takeoverMax: 10,
  patienceMs: 30_000,
  takeoverMs: 250,
  idleMs: 60_000,
  liveMax: 10_000,
}
