/** `statecast trace --traces`: the events of exported traces, redacted ones too, so that whoever gives one away has read what stands in it. */
import { commitOf, traceEntries } from '../actors/index.ts'
import { recordedIn } from '../client/index.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Commit } from '../contracts/journal.ts'
import { formatAddress } from '../contracts/subjects.ts'
import { contradiction } from './contradictions.ts'
import { exitCodes, note, printable } from './output.ts'
import { surroundings } from './surroundings.ts'
import { type TraceOptions, tellEntry } from './trace.ts'

/** @throws RuntimeError bad_request for traces that are not there or not whole, and for what only a journal that is still written can do */
export const traceExported = async (options: TraceOptions & { traces: string }, key: string | undefined): Promise<number> => {
  if (key !== undefined) throw contradiction('traces', `the key ${printable(key)}`, '--traces')
  if (options.follow) throw contradiction('traces', '--follow', '--traces')
  if (options.timing) throw contradiction('traces', '--timing', '--traces')
  for (const { name, open } of recordedIn(options.traces, surroundings().cwd())) {
    const { address, journal } = open()
    note(`${printable(name)}: ${printable(formatAddress(address))}`)
    const from = options.from ?? 1
    let before: Commit | undefined
    // From the one before on: it says who had the actor until then.
    for (const frame of await journal.read(address, Math.max(1, from - 1), { limit: Number.MAX_SAFE_INTEGER })) {
      const commit = commitOf(frame, address)
      if (commit.seq >= from) for (const entry of traceEntries(commit, before)) tellEntry(options, entry)
      before = commit
    }
  }
  return exitCodes.fine
}

export const nothingToTrace = (): RuntimeError =>
  new RuntimeError('bad_request', 'there is nothing to print the events of', {
    field: 'key',
    hint: 'name a conversation or actor: statecast trace KEY; or exported traces: statecast trace --traces FILE',
  })
