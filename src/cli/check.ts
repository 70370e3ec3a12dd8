/** `statecast check`: what the charts say against machines, and which of their states and transitions no trace has been through. */
import { type Chart, Coverage, chartsBelow, namesBelow, type Registration, type Soundness, soundnessOf } from '../actors/index.ts'
import { type Recorded, recordedIn } from '../client/index.ts'
import { type ErrorCode, isRuntimeError } from '../contracts/errors.ts'
import type { MachineCoverage, TransitionRef } from '../contracts/inspection.ts'
import { shownBody } from '../contracts/redact.ts'
import { formatAddress } from '../contracts/subjects.ts'
import type { RuntimeOptions } from '../runtime.ts'
import { withMachinesOf } from './against.ts'
import { appMachines } from './app-machines.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { hintCommand } from './hint.ts'
import { exitCodes, note, print, printable, printJson } from './output.ts'
import { progressOn } from './progress.ts'
import { surroundings } from './surroundings.ts'
import { printTable } from './table.ts'
import { recordedBy } from './traces.ts'

type CheckOptions = Globals & { kind?: string; traces?: string }

/** One machine, as `--json` prints it. */
type Checked = MachineCoverage & Soundness & { kind: string }
type Row = {
  checked: Checked
  chart: Chart
  /** An id of the chart as it is told. */
  shown: Renamed
}
type Renamed = (id: string) => string

/** @throws RuntimeError bad_request for a kind that the app does not have, or traces that are not there */
export const check = (options: CheckOptions): Promise<number> =>
  withMachinesOf(options.app, async (machines, app) => {
    const kinds = options.kind === undefined ? kindsOf(app) : [options.kind]
    const registrations = new Map(kinds.map((kind) => [kind, machines(kind)]))
    const coverages = new Map([...registrations].map(([kind, registration]) => [kind, new Coverage(registration)]))
    const unread = await foldAll(options, coverages)
    const rows = rowsOf(registrations, coverages)
    if (options.json) for (const { checked } of rows) printJson(checked)
    else tell(rows, options, new Set(Object.keys(app.machines ?? {})))
    if (unread.length > 0) note(`${unread.length} could not be folded, and count for nothing`)
    const unsound = rows.some(({ checked }) => checked.unreachable.length > 0 || checked.deadEnds.length > 0)
    // What older machines recorded here stays here. Traces were put there to be folded.
    const missing = options.traces === undefined ? unread.some((code) => code !== 'drift') : unread.length > 0
    return unsound || missing ? exitCodes.failed : exitCodes.fine
  })

const kindsOf = (app: RuntimeOptions): string[] => [...Object.keys(appMachines(app)), 'session']

const foldAll = async (options: CheckOptions, coverages: ReadonlyMap<string, Coverage>): Promise<ErrorCode[]> => {
  if (options.traces !== undefined) return fold(recordedIn(options.traces, surroundings().cwd()), coverages)
  const client = await connect(options, { look: true })
  try {
    return await fold(await recordedBy(client, options.kind), coverages)
  } finally {
    await client.close()
  }
}

/** @returns why some could not be folded, a code for each */
const fold = async (all: readonly Recorded[], coverages: ReadonlyMap<string, Coverage>): Promise<ErrorCode[]> => {
  const progress = progressOn()
  const unread: ErrorCode[] = []
  for (const [index, { name, open }] of all.entries()) {
    try {
      const { address, journal } = open()
      await coverages.get(address.kind)?.add({
        address: formatAddress(address),
        name,
        frames: (from, limit) => journal.read(address, from, { limit }),
      })
    } catch (error) {
      if (isRuntimeError(error) && error.retryable) throw error
      const { code, message } = shownBody(error)
      unread.push(code)
      progress.end()
      note(`${printable(name)}: ${printable(message)} [${code}]`)
    }
    progress.tell(`${index + 1} of ${all.length} folded`)
  }
  progress.end()
  return unread
}

/** A machine that several kinds have is one row. */
const rowsOf = (registrations: ReadonlyMap<string, Registration>, coverages: ReadonlyMap<string, Coverage>): Row[] => {
  const rows = new Map<string, Row>()
  for (const [kind, { machine }] of registrations) {
    const charts = chartsBelow(machine)
    const names = namesBelow(machine, kind)
    for (const one of coverages.get(kind)?.result() ?? []) {
      const { signature, id } = one.machine
      const chart = charts[signature]
      if (!chart || rows.has(signature)) continue
      const shown = renamed(id, names[signature] ?? id)
      rows.set(signature, { chart, shown, checked: checkedOf(kind, chart, one, shown) })
    }
  }
  return [...rows.values()]
}

const renamed =
  (from: string, to: string): Renamed =>
  (id) =>
    id === from || id.startsWith(`${from}.`) ? `${to}${id.slice(from.length)}` : id

const checkedOf = (kind: string, chart: Chart, { machine, sessions, states, transitions }: MachineCoverage, shown: Renamed): Checked => {
  const { unreachable, deadEnds } = soundnessOf(chart)
  return {
    kind,
    machine: { ...machine, id: shown(machine.id) },
    sessions,
    states: states.map((state) => ({ ...state, id: shown(state.id) })),
    transitions: transitions.map((transition) => ({ ...transition, ref: { ...transition.ref, source: shown(transition.ref.source) } })),
    unreachable: unreachable.map(shown),
    deadEnds: deadEnds.map(shown),
  }
}

/** Lines of one sort that people are shown of one machine. */
const linesMax = 20
/** Taken by so many sessions at most, a transition is a rare one. */
const rareMax = 2

/** @param own kinds of the author: with any of them, and none asked for by name, ours are a line each, unless something is wrong with one */
const tell = (rows: readonly Row[], options: CheckOptions, own: ReadonlySet<string>): void => {
  const of = (part: readonly { sessions: readonly unknown[] }[]) => `${part.filter(({ sessions }) => sessions.length > 0).length}/${part.length}`
  printTable(
    ['MACHINE', 'SESSIONS', 'STATES', 'TRANSITIONS', 'UNREACHABLE', 'DEAD ENDS'],
    rows.map(({ checked }) => {
      const { machine, sessions, states, transitions, unreachable, deadEnds } = checked
      return [printable(machine.id), String(sessions), of(states), of(transitions), String(unreachable.length), String(deadEnds.length)]
    }),
  )
  const briefly = options.kind === undefined && own.size > 0
  const brief = rows.filter(({ checked }) => briefly && !own.has(checked.kind))
  for (const row of rows) tellMachine(row, !brief.includes(row))
  if (brief.some(({ checked }) => checked.sessions > 0))
    print(`\nof ${brief.length} machines of Statecast's own only the counts are told: ${hintCommand(options, 'check')} --kind session tells the rest`)
}

const tellMachine = ({ checked, chart, shown }: Row, counts: boolean): void => {
  const { machine, unreachable, deadEnds, sessions, transitions } = checked
  const texts = new Map(transitionTexts(chart, shown))
  const never = transitions.filter(({ taken }) => taken === 0)
  const rare = transitions.filter(({ taken, sessions: names }) => taken > 0 && names.length <= rareMax && sessions > rareMax)
  const told = (ref: TransitionRef) => texts.get(keyOf(ref)) ?? `${ref.source} ${ref.eventType}`
  const parts: [string, string[]][] = [
    ['nothing leads to', unreachable],
    ['no end can be reached from', deadEnds],
    // Of a machine that nobody has used yet that says nothing.
    ['never taken', sessions === 0 || !counts ? [] : never.map(({ ref }) => told(ref))],
    ['rare', counts ? rare.map(({ ref, taken, sessions: names }) => `${told(ref)}  ${taken} × ${names.join(', ')}`) : []],
  ]
  for (const [what, lines] of parts) {
    if (lines.length === 0) continue
    print(`\n${printable(machine.id)}: ${what}`)
    for (const line of lines.slice(0, linesMax)) print(`  ${printable(line)}`)
    if (lines.length > linesMax) print(`  … and ${lines.length - linesMax} more: --json has all of them`)
  }
}

const keyOf = ({ source, eventType, index }: TransitionRef): string => `${source} ${eventType} ${index}`

/** `deciding  deny → refused`, by the place of the transition. */
function* transitionTexts({ id, root }: Chart, shown: Renamed): Generator<[string, string]> {
  const brief = (node: string) => (node.startsWith(`${id}.`) ? node.slice(id.length + 1) : shown(node))
  const waiting = [root]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    waiting.push(...node.states)
    const counts = new Map<string, number>()
    for (const { source, eventType, event, guard, targets } of node.transitions) {
      const index = counts.get(eventType) ?? 0
      counts.set(eventType, index + 1)
      const to = targets.length > 0 ? ` → ${targets.map(brief).join(', ')}` : ''
      yield [keyOf({ source: shown(source), eventType, index }), `${brief(source)}  ${event}${guard === undefined ? '' : ` [${guard}]`}${to}`]
    }
  }
}
