/** `trace.export`: a trace to be given away, redacted by the node that has its machines. */
import { RuntimeError } from '../contracts/errors.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import { type RuntimeParts, redactedTrace, TraceWriter } from '../runtime/index.ts'

/** Commits that are folded in one go while nobody else has a turn. */
const commitsMax = 1_000

/** @throws RuntimeError too_large, conflict where a guard reads what would be replaced, drift, corrupt_at */
export const exportTrace = async ({ transport, runtime, redaction }: RuntimeParts, address: Address): Promise<{ commits: number; file: string }> => {
  const frames = await transport.journal.read(address, 1, { limit: commitsMax + 1 })
  if (frames.length > commitsMax)
    throw new RuntimeError(
      'too_large',
      `${formatAddress(address)} has more than ${commitsMax} commits, which a node does not redact beside its work`,
      {
        hint: 'redact it in a process of its own: statecast export KEY --redact',
      },
    )
  const redacted = redactedTrace({ address, frames, registration: runtime.registration(address.kind), redaction })
  const lines: string[] = []
  const trace = await TraceWriter.begin((line) => void lines.push(line), redacted.address, { redacted: true })
  for (const { seq, bytes } of redacted.frames) await trace.frame(seq, bytes)
  const commits = await trace.end(null)
  return { commits, file: `${lines.join('\n')}\n` }
}
