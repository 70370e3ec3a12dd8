/** The actor system: any XState machine, made durable. */
export { type Chart, type ChartNode, chart, chartsBelow, named, namesBelow, toJson } from './charts/chart.ts'
export { toConfig } from './charts/config.ts'
export {
  type DrawnTransition,
  type Elk,
  glyphs,
  type Level,
  lineHeight,
  type PlacedBox,
  type PlacedChart,
  type PlacedRow,
  type PlacedWire,
  placeChart,
  rowHeight,
  toSvg,
  transitionsOf,
} from './charts/layout/index.ts'
export { toMermaid } from './charts/mermaid.ts'
export { toScxml } from './charts/scxml.ts'
export { machineSignature } from './charts/signature.ts'
export { type Soundness, soundnessOf } from './charts/soundness.ts'
export { vouchFor } from './event-validation.ts'
export { type Ask, answer, answerMs, type Directory, directoryFrom, localDirectory, type Question } from './host/directory.ts'
export type { HostEvents, SendOptions } from './host/host.options.ts'
export { Host } from './host/host.ts'
export { defaultLimits, type HostLimits } from './host/limits.ts'
export { Coverage, mergedCoverage } from './inspection/coverage.ts'
export { Fold, type Living, pauseEvery } from './inspection/fold.ts'
export { commitMessages, type ToldAs, treeMessages } from './inspection/protocol.ts'
export { shown } from './inspection/shown.ts'
export { inspected } from './inspection/verdicts.ts'
export { checksum, commitOf, decode, decodeCommit, encode } from './journal/codec.ts'
export { errorFrom, errorParts, plainCopy, wholeCopy } from './journal/journal-value.ts'
export { claimWord } from './journal/ledger.ts'
export { recover } from './journal/recovery.ts'
export { recordedSignature } from './journal/redefined.ts'
export { type Replayed, replay, saidAfter, type TraceEntry, traceEntries } from './journal/replay.ts'
export { type Rewriting, type Rewritten, rewrite, underOwnName } from './journal/rewrite.ts'
export { type DeterminismCheck, type MachineOptions, type Registration, registerMachine } from './registration.ts'
export { idAt, pathWith } from './replica/paths.ts'
export { failPointsAt } from './root/commit-fail-points.ts'
export {
  type ActorDirectory,
  directoryOf,
  type EffectInfo,
  effect,
  fromTask,
  type PlaceableEffect,
  type PlaceableScope,
  placeable,
  type TaskScope,
} from './root/effect.ts'
export { changeOf } from './root/fork-beginning.ts'
export { type RemoteInput, remote } from './root/remote.ts'
export { quarantinedError, shuttingDownError } from './root/supervision.ts'
export { type ActorView, type ChildView, type Extent, type RootView, viewOf } from './root/view.ts'
