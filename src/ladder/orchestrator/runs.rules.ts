/** Names of the runs that turns are, and which of them are there: a session remembers little of each, and forgets them in time. Pure. */

/**
 * @property from the first turn whose runs may be there
 * @property versions under which turns were made, from which turn on
 * @property retried turns whose first run has failed or was cancelled, and of how many runs they are
 */
export type TurnRuns = {
  from: number
  versions: readonly { from: number; version: string | null }[]
  retried: readonly { turn: number; runs: number }[]
}

/** By session, version and number, with no dot in the version, so that no two sessions share a name; an attempt after one that came to nothing has a name of its own. */
export const runName = (sessionId: string, version: string | null, turn: number, attempt: number): string => {
  const name = `${sessionId}.${version?.replaceAll('.', '-') ?? 'unversioned'}.${turn}`
  return attempt === 1 ? name : `${name}~${attempt}`
}

/** A turn is stored, with its last run. @param from those of turns before it were forgotten, or are about to be */
export const withTurn = (
  known: TurnRuns | undefined,
  { turn, version, runs, from = known?.from ?? turn }: { turn: number; version: string | null; runs: number; from?: number | undefined },
): TurnRuns => {
  const versions = known?.versions ?? []
  const all = versions.at(-1)?.version === version && versions.length > 0 ? versions : [...versions, { from: turn, version }]
  const retried = known?.retried ?? []
  return runsFrom({ from, versions: all, retried: runs > 1 ? [...retried, { turn, runs }] : retried }, from)
}

/** Those of turns before it were forgotten. */
export const runsFrom = ({ versions, retried }: TurnRuns, from: number): TurnRuns => {
  const isOver = (next: TurnRuns['versions'][number] | undefined): boolean => next !== undefined && next.from <= from
  return { from, versions: versions.filter((_, index) => !isOver(versions[index + 1])), retried: retried.filter((one) => one.turn >= from) }
}

/** A turn that is known already has come to so many runs. */
export const retriedTurn = (known: TurnRuns, turn: number, runs: number): TurnRuns => ({
  ...known,
  retried: [...known.retried.filter((one) => one.turn !== turn), { turn, runs }],
})

/** @returns names, the oldest first */
export const runsBefore = (sessionId: string, { from, versions, retried }: TurnRuns, turn: number): string[] =>
  Array.from({ length: Math.max(0, turn - from) }, (_, index) => from + index).flatMap((one) => {
    const version = versions.findLast((since) => since.from <= one)?.version ?? null
    const runs = retried.find((other) => other.turn === one)?.runs ?? 1
    return Array.from({ length: runs }, (__, attempt) => runName(sessionId, version, one, attempt + 1))
  })

type Known = { runs?: TurnRuns; answers: readonly { turnRunId?: string }[] } | undefined
type Row = { turn_index: number; version: string | null }

/** Of a session, as far as anybody knows. @param rows of the store, oldest first */
export const allRuns = (sessionId: string, session: Known, rows: readonly Row[]): Set<string> =>
  new Set([
    ...(session?.runs ? runsBefore(sessionId, session.runs, (rows.at(-1)?.turn_index ?? -1) + 1) : []),
    ...rows.map(({ version, turn_index }) => runName(sessionId, version, turn_index, 1)),
    ...(session?.answers.flatMap(({ turnRunId }) => turnRunId ?? []) ?? []),
  ])

/** Runs are forgotten some at a time, since each time costs a write. */
const together = 8
const mostTogether = 64

/** @param kept how many of the newest turns keep their runs @param still the first that keeps its own in any case @returns the first turn that keeps them from now on; undefined where there are too few to forget any */
export const dueFrom = ({ from }: TurnRuns, newest: number, kept: number, still = Number.POSITIVE_INFINITY): number | undefined => {
  const first = Math.min(newest - kept + 1, still)
  return first - from < together ? undefined : Math.min(first, from + mostTogether)
}
