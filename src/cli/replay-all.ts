/** `statecast replay --against FILE` without a key: what an edited machine would have done in all that was recorded. */
import { writeFileSync } from 'node:fs'
import { type Compared, type Recorded, recordedIn } from '../client/index.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { type MachinesOf, withMachinesOf } from './against.ts'
import { tellCompared } from './compared-text.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, print, printable, printJson } from './output.ts'
import { progressOn } from './progress.ts'
import { reportPage, type Summary } from './report.ts'
import { resolvePath, surroundings } from './surroundings.ts'
import { compareAll, recordedBy } from './traces.ts'

type ReplayAllOptions = Globals & { against?: string; traces?: string; kind?: string; onlyStates?: boolean; report: string[] }

/** @throws RuntimeError bad_request for a report that cannot be written, for traces that are not there, and for a kind that the machines do not have */
export const replayAll = async (options: ReplayAllOptions): Promise<number> => {
  const { against, traces, kind } = options
  if (against === undefined && traces === undefined)
    throw new RuntimeError('bad_request', 'there is nothing to compare with', {
      field: 'key',
      hint: 'name a conversation: statecast replay KEY; or other machines for all of them: statecast replay --against FILE',
    })
  for (const file of options.report) requireEnding(file)
  const compare = (all: readonly Recorded[]) =>
    withMachinesOf(
      against ?? options.app,
      async (machines) => {
        // Of a kind that is misspelt nothing is recorded, which would look as if all were well.
        if (kind !== undefined) machines(kind)
        return compareAndTell(all, machines, options)
      },
      against === undefined ? 'app' : 'against',
    )
  if (traces !== undefined) return compare(recordedIn(traces, surroundings().cwd()))
  const client = await connect(options, { look: true })
  try {
    return await compare(await recordedBy(client, kind))
  } finally {
    await client.close()
  }
}

const requireEnding = (file: string): void => {
  if (/\.(?:json|html)$/.test(file)) return
  throw new RuntimeError('bad_request', `there is no report of the form of ${file}`, { field: 'report', hint: 'name it .json or .html' })
}

const compareAndTell = async (all: readonly Recorded[], machines: MachinesOf, options: ReplayAllOptions): Promise<number> => {
  const { json = false, against, onlyStates = false, report } = options
  const progress = progressOn()
  const sessions: Compared[] = []
  const began = performance.now()
  for await (const compared of compareAll(all, { machines, compareContext: !onlyStates })) {
    sessions.push(compared)
    if (json) printJson(compared)
    else if (compared.verdict !== 'identical') {
      progress.end()
      tellCompared(compared)
    }
    progress.tell(`${sessions.length} of ${all.length} folded, ${sessions.filter(({ verdict }) => verdict !== 'identical').length} differ`)
  }
  progress.end()
  const summary = summaryOf(sessions, against ?? 'this app', (performance.now() - began) / 1000)
  for (const file of report) writeReport(file, summary, sessions)
  if (json) printJson(summary)
  else tellSummary(summary)
  return summary.identical === summary.sessions ? exitCodes.fine : exitCodes.failed
}

const summaryOf = (sessions: readonly Compared[], against: string, seconds: number): Summary => {
  const count = (wanted: Compared['verdict']) => sessions.filter(({ verdict }) => verdict === wanted).length
  return {
    against,
    sessions: sessions.length,
    identical: count('identical'),
    different: count('different'),
    unreadable: count('unreadable'),
    commits: sessions.reduce((sum, { commits }) => sum + commits, 0),
    seconds: Math.round(seconds * 10) / 10,
  }
}

const tellSummary = ({ against, sessions, identical, different, unreadable, commits, seconds }: Summary): void => {
  if (sessions === 0) note('nothing is recorded here')
  const parts = [`${identical} identical`, `${different} different`, ...(unreadable > 0 ? [`${unreadable} unreadable`] : [])]
  print(`${sessions} recorded sessions against ${printable(against)}: ${parts.join(', ')} (${commits} commits in ${seconds} s)`)
}

const writeReport = (file: string, summary: Summary, sessions: readonly Compared[]): void => {
  const text = file.endsWith('.html') ? reportPage(summary, sessions) : `${JSON.stringify({ summary, sessions }, null, 2)}\n`
  try {
    writeFileSync(resolvePath(file), text)
  } catch (cause) {
    throw new RuntimeError('bad_request', `${file} cannot be written`, { cause, field: 'report', hint: 'name a file in a folder that is there' })
  }
  note(`the report is in ${file}`)
}
