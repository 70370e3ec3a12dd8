/** `statecast export --redact`: a trace for others to see and to test with. */
import { journalOf } from '../client/index.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { formatAddress } from '../contracts/subjects.ts'
import { redactedTrace, redactionOf, TraceWriter } from '../runtime/index.ts'
import { withAddress } from './address.ts'
import { withMachinesOf } from './against.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, printable, printed } from './output.ts'

/** @throws RuntimeError conflict where a guard reads what would be replaced, drift for other machines, not_found, corrupt_at */
export const exportRedacted = async (options: Globals, key: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    return await withAddress(key, async (address) => {
      const frames = await journalOf(client, address).read(address, 1, { limit: Number.MAX_SAFE_INTEGER })
      if (frames.length === 0) throw new RuntimeError('not_found', `there is no ${formatAddress(address)}`, { hint: 'see `statecast actors`' })
      const redacted = await withMachinesOf(options.app, async (machines, app) =>
        redactedTrace({ address, frames, registration: machines(address.kind), redaction: redactionOf(app) }),
      )
      const trace = await TraceWriter.begin(printed, redacted.address, { redacted: true })
      for (const { seq, bytes } of redacted.frames) await trace.frame(seq, bytes)
      const commits = await trace.end(null)
      note(`exported ${commits} commits of ${printable(formatAddress(address))}, redacted: it leads to the same states`)
      note('kept as they are: times, numbers outside of tools, names of fields, and words of the machines; files are left out, and digests are new')
      return exitCodes.fine
    })
  } finally {
    await client.close()
  }
}
