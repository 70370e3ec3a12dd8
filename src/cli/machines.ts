/** `statecast machines`: the statecharts, ours and those of the app. */
import type { AnyStateMachine } from 'xstate'
import { type Chart, chart, type Elk, named, placeChart, toConfig, toMermaid, toScxml, toSvg } from '../actors/index.ts'
import { machines as ours } from '../all-machines.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { nearest } from '../tools/index.ts'
import { appMachines } from './app-machines.ts'
import { contradiction } from './contradictions.ts'
import type { Globals } from './globals.ts'
import { loadApp } from './load-app.ts'
import { exitCodes, print, printable, printJson } from './output.ts'
import { streams } from './surroundings.ts'

type MachinesOptions = Globals & { format?: 'mermaid' | 'json' | 'svg' | 'scxml' }

export const machines = async ({ app, json = false, format }: MachinesOptions, name: string | undefined): Promise<number> => {
  if (json && format !== undefined && format !== 'json') throw contradiction('format', '--json', `--format ${format}`)
  const known = { ...ours, ...appMachines(await loadApp(app)) }
  if (name === undefined && format === undefined) return list(known, json)
  if (name !== undefined && !Object.hasOwn(known, name)) throw unknown(name, Object.keys(known))
  const chosen = Object.entries(known).filter(([one]) => name === undefined || one === name)
  if ((format === 'svg' || format === 'scxml') && chosen.length > 1)
    throw new RuntimeError('bad_request', `${format.toUpperCase()} shows one machine`, {
      field: 'format',
      hint: `name one: ${chosen.map(([one]) => one).join(', ')}`,
    })
  for (const [one, machine] of chosen) {
    const shown = named(machine, one)
    const drawn = chart(shown)
    if (json) printJson({ name: one, ...drawn })
    else if (format === 'svg') streams().stdout.write(await svgOf(drawn))
    else if (format === 'scxml') streams().stdout.write(toScxml(shown))
    else if (format === 'json') streams().stdout.write(`${JSON.stringify(toConfig(machine).config, null, 2)}\n`)
    else streams().stdout.write(`${chosen.length > 1 ? `%% ${one}\n` : ''}${toMermaid(drawn)}`)
  }
  return exitCodes.fine
}

/** What lays it out is large, and asked for seldom. */
const svgOf = async (drawn: Chart): Promise<string> => {
  const { default: ELK } = await import('elkjs/lib/elk.bundled.js')
  return toSvg(await placeChart(new (ELK as unknown as new () => Elk)(), drawn, 'labels'))
}

const list = (known: Record<string, AnyStateMachine>, json: boolean): number => {
  const width = Math.max(...Object.keys(known).map(({ length }) => length))
  for (const [name, machine] of Object.entries(known)) {
    const description = printable(machine.root.description ?? '')
    if (json) printJson({ name, description, states: Object.keys(machine.root.states) })
    else print(`${name.padEnd(width)}  ${description}`.trimEnd())
  }
  return exitCodes.fine
}

const unknown = (name: string, known: string[]): RuntimeError => {
  const near = nearest(name, known)
  return new RuntimeError('not_found', `no machine is named '${name.slice(0, 80)}'`, {
    hint:
      near.length > 0
        ? `did you mean ${near.join(', ')}?`
        : `there are: ${known.join(', ')}; those of yours come with an app: a statecast.config.ts here, or --app FILE`,
  })
}
