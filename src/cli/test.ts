/** `statecast test`: recorded traces as the tests of the machines that there are now. */
import { type Compared, recordedIn } from '../client/index.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { withMachinesOf } from './against.ts'
import { tellCompared } from './compared-text.ts'
import type { Globals } from './globals.ts'
import { exitCodes, print, printJson } from './output.ts'
import { surroundings } from './surroundings.ts'
import { compareAll } from './traces.ts'

type TestOptions = Globals & { traces?: string; onlyStates?: boolean }

/** @throws RuntimeError bad_request for a folder without a trace, and for an app that does not load */
export const test = async ({ traces, app, json = false, onlyStates = false }: TestOptions): Promise<number> => {
  if (traces === undefined)
    throw new RuntimeError('bad_request', 'there are no traces to test with', { field: 'traces', hint: 'statecast test --traces FOLDER' })
  const all = recordedIn(traces, surroundings().cwd())
  const began = performance.now()
  const done: Compared[] = []
  await withMachinesOf(app, async (machines) => {
    for await (const compared of compareAll(all, { machines, compareContext: !onlyStates })) {
      done.push(compared)
      if (json) printJson(compared)
      else tellCompared(compared)
    }
  })
  const identical = done.filter(({ verdict }) => verdict === 'identical').length
  const seconds = Math.round((performance.now() - began) / 100) / 10
  if (json) printJson({ traces: done.length, identical, failed: done.length - identical, seconds })
  else print(`${done.length} traces: ${identical} identical, ${done.length - identical} not (${seconds} s)`)
  return identical === done.length ? exitCodes.fine : exitCodes.failed
}
