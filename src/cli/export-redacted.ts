/** `statecast export --redact`: a trace for others to see and to test with. It holds nothing of what people said, and leads to the same states. */
import { type Rewritten, rewrite } from '../actors/index.ts'
import { journalOf } from '../client/index.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Frame } from '../contracts/transport.ts'
import { redactorOf } from '../runtime/index.ts'
import type { RuntimeOptions } from '../runtime.ts'
import { withAddress } from './address.ts'
import { type MachinesOf, withMachinesOf } from './against.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, printable, stateText } from './output.ts'
import { TraceWriter } from './trace-writer.ts'

/** Characters that are left of a text; where that leads elsewhere, since something counts them, as many as there were. */
const textMaxima = [2000, Number.POSITIVE_INFINITY]

/** @throws RuntimeError conflict where a guard reads what would be replaced, drift for other machines, not_found, corrupt_at */
export const exportRedacted = async (options: Globals, key: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    return await withAddress(key, async (address) => {
      const frames = await journalOf(client, address).read(address, 1, { limit: Number.MAX_SAFE_INTEGER })
      if (frames.length === 0) throw new RuntimeError('not_found', `there is no ${formatAddress(address)}`, { hint: 'see `statecast actors`' })
      const { written, name } = await withMachinesOf(options.app, async (machines, app) => redacted(address, frames, machines, app))
      const trace = await TraceWriter.begin(name, { redacted: true })
      for (const { seq, bytes } of written) await trace.frame({ seq, bytes: Buffer.from(bytes).toString('base64') })
      const commits = await trace.end(null)
      note(`exported ${commits} commits of ${printable(formatAddress(address))}, redacted: it leads to the same states`)
      note('kept as they are: times, numbers outside of tools, names of fields, and words of the machines; files are left out, and digests are new')
      return exitCodes.fine
    })
  } finally {
    await client.close()
  }
}

const redacted = async (address: Address, frames: readonly Frame[], machines: MachinesOf, app: RuntimeOptions) => {
  const registration = { ...machines(address.kind), determinismCheck: undefined }
  let last: Rewritten | undefined
  for (const textMax of textMaxima) {
    const rewriting = redactorOf({ address, registration, options: app.redaction, words: wordsOfApp(app), textMax })
    last = rewrite(address, frames, registration, rewriting)
    if (!last.difference) return { written: last.frames, name: rewriting.address }
  }
  throw differs(address, last?.difference as NonNullable<Rewritten['difference']>)
}

/** What keys of sessions are made of, beside names. */
const wordsOfKeys = ['agent', 'main', 'web', 'stdio', 'direct', 'group', 'channel', 'thread']

const wordsOfApp = ({ agents = [], models = {}, channels = [] }: RuntimeOptions): string[] => [
  ...wordsOfKeys,
  ...agents.flatMap(({ name, tools }) => [name, ...tools.map((tool) => tool.name)]),
  ...Object.keys(models),
  ...channels.map(({ id }) => id),
]

const differs = (address: Address, { seq, path, recorded, now }: NonNullable<Rewritten['difference']>): RuntimeError =>
  new RuntimeError(
    'conflict',
    `${formatAddress(address)} cannot be redacted: from commit ${seq} on it would lead elsewhere (${path}: recorded ${shown(recorded)}, redacted ${shown(now)})`,
    {
      hint: `something decides by what stands in a text there; name the place under \`redaction: { keep: ['${address.kind}.<event>.<field>'] }\` of your app`,
      data: { seq },
    },
  )

const shown = (state: unknown): string => {
  const text = stateText(state)
  return text === '-' ? (JSON.stringify(state)?.slice(0, 200) ?? 'nothing') : text
}
