/** `statecast export`: a conversation or actor as a file (src/client/trace-file.ts), to be resumed elsewhere, in the middle of a turn too. */
import { rewrite, underOwnName } from '../actors/index.ts'
import { type Client, journalOf } from '../client/index.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { type FileRef, fileLine } from '../contracts/file.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Frame } from '../contracts/transport.ts'
import { type FramePage, TraceWriter } from '../runtime/index.ts'
import { withAddress } from './address.ts'
import { withMachinesOf } from './against.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, printable, printed } from './output.ts'

/** @throws RuntimeError not_found, corrupt_at; of a fork also drift for other machines than those that recorded it, and conflict */
export const exportJournal = async (options: Globals, key: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    return await withAddress(key, async (address) => {
      const name = printable(formatAddress(address))
      const first = await framesFrom(client, address, 1)
      const { origin } = first.head
      const { trace, wakeAt } = origin ? await exportFork(client, address, options.app) : await exportStored(client, address, first)
      if (address.kind === 'session') await exportFiles(client, address.id, trace)
      const commits = await trace.end(wakeAt)
      note(`exported ${commits} commits of ${name}${origin ? `, also those that it shares with ${printable(formatAddress(origin.address))}` : ''}`)
      if (wakeAt === 0 && client.url !== undefined)
        note('it is in the middle of its work and also continues here: stop the node before you import it elsewhere')
      return exitCodes.fine
    })
  } finally {
    await client.close()
  }
}

type Written = { trace: TraceWriter; wakeAt: number | null }

/** As it stands in the journal, one page after the other. */
const exportStored = async (client: Client, address: Address, first: FramePage): Promise<Written> => {
  const trace = await TraceWriter.begin(printed, address)
  for (let page = first; ; page = await framesFrom(client, address, page.next)) {
    for (const { seq, bytes } of page.frames) await trace.frame(seq, bytes)
    if (page.next === null) return { trace, wakeAt: page.head.wakeAt }
  }
}

const framesFrom = (client: Client, address: Address, from: number): Promise<FramePage> =>
  client.command<FramePage>('trace.frames', { ...address, from, limit: 1000 })

/** What a fork shares says the name of its origin: it is folded, and written under the name of the fork. */
const exportFork = async (client: Client, address: Address, app: string | undefined): Promise<Written> => {
  const journal = journalOf(client, address)
  const all: Frame[] = [...(await journal.read(address, 1, { limit: Number.MAX_SAFE_INTEGER }))]
  const wakeAt = (await journal.head(address))?.wakeAt ?? null
  const { frames, difference } = await withMachinesOf(app, async (machines) => rewrite(address, all, machines(address.kind), underOwnName(address)))
  if (difference)
    throw new RuntimeError('conflict', `${formatAddress(address)} cannot be exported: under its own name commit ${difference.seq} leads elsewhere`, {
      hint: `something decides by that name; export its origin, and fork that where it is imported: see \`statecast fork --help\``,
      data: { seq: difference.seq },
    })
  const trace = await TraceWriter.begin(printed, address)
  for (const { seq, bytes } of frames) await trace.frame(seq, bytes)
  return { trace, wakeAt }
}

/** With what is in them: elsewhere nobody has that. */
const exportFiles = async (client: Client, sessionKey: string, trace: TraceWriter): Promise<void> => {
  const { files } = await client.command<{ files: FileRef[] }>('files.list', { sessionKey })
  for (const file of files) {
    const found = await client.command<{ content: string }>('files.get', { sessionKey, id: file.id }).catch((error: unknown) => {
      if (!isRuntimeError(error)) throw error
      note(`the file ${printable(fileLine(file))} is not in the export: ${error.message}`)
      return undefined
    })
    if (found) await trace.file(file, found.content)
  }
}
