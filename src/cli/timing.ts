/** `statecast trace KEY --timing`: when the newest run of a conversation did what, as bars. */
import type { RunTrace, Span } from '../contracts/tracing.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, print, printable, printJson } from './output.ts'

/** Characters of the longest bar. */
const barMax = 40

/** @param options.run its id; default: the newest one of the conversation that the node knows */
export const timing = async (options: Globals & { run?: string }, key: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const input = { sessionKey: key, ...(options.run === undefined ? {} : { runId: options.run }) }
    const { runs } = await client.command<{ runs: RunTrace[] }>('trace.spans', input)
    const run = runs.at(-1)
    if (options.json) printJson(run ?? null)
    else if (run) for (const line of waterfall(run)) print(line)
    else note('no run of this conversation was observed by this node since it started')
    return run ? exitCodes.fine : exitCodes.notFound
  } finally {
    await client.close()
  }
}

/** A line for each part of a run. */
export const waterfall = ({ runId, latency, stages, steps, spans }: RunTrace): string[] => {
  // A connection may have been opened long before.
  const shown = [...stages, ...steps, ...spans.filter(({ name }) => name.startsWith('tool ') || name.startsWith('first-'))]
  const begin = Math.min(...shown.map(({ start }) => start))
  const length = Math.max(...shown.map(({ end }) => end)) - begin || 1
  const column = (at: number): number => Math.round(((at - begin) / length) * barMax)
  const line = ({ name, start, end, outcome }: Span): string => {
    const [from, to] = [column(start), column(end)]
    const bar = outcome === 'skipped' ? '' : `${' '.repeat(from)}${'█'.repeat(Math.max(1, to - from))}`
    const took = outcome === 'skipped' ? 'skipped' : `${(end - start).toFixed(1)} ms${outcome === 'error' ? ' failed' : ''}`
    return `  ${printable(name).padEnd(16).slice(0, 16)} ${took.padStart(14)}  ${bar}`.trimEnd()
  }
  return [
    `${printable(runId)}: ${latency.totalMs.toFixed(1)} ms`,
    ...latency.parts.map(({ name, ms, share }) => `  ${name.padEnd(16)} ${`${ms.toFixed(1)} ms`.padStart(14)}  ${share} %`),
    ...shown.toSorted((a, b) => a.start - b.start || a.end - b.end).map(line),
  ]
}
