/** Commands of a runtime in this process. */

import { type CommandName, commands } from '../contracts/commands.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Attachment, FileRef } from '../contracts/file.ts'
import { parseInput } from '../contracts/parse.ts'
import type { Runtime } from '../runtime/index.ts'
import type { Client } from './client.ts'

/** What else a runtime of this process does for other commands while it lasts. */
export type Share = {
  /** Takes nothing new. */
  drain(): Promise<void>
  /** Ends all connections; to be called when the runtime has closed, so that readers that wait for it have been told. */
  close(): Promise<void>
}

/** Other nodes take over what this one loses, and need this long for it. */
const takeoverMsMax = 600_000

/** @param share what else has to end with it @param leave ends the process */
export const inProcessClient = (runtime: Runtime, share?: Share, leave: () => void = () => process.exit()): Client => ({
  url: undefined,
  ...(runtime.shared ? { untrusted: true, outageMsMax: takeoverMsMax } : { lossless: true }),
  command: <Result>(name: CommandName, input: unknown) => runtime.command<Result>(name, input),
  events: async (id, after) => runtime.events({ kind: 'session', id }, after),
  store: async (input) => {
    const { sessionKey, message: text, attachments = [], idempotencyKey: id, agent, model, queueMode } = parseInput(commands['chat.send'], input)
    if (text === '' && attachments.length === 0)
      throw new RuntimeError('bad_request', 'message must not be empty', { field: 'message', hint: 'say something, or send a file' })
    // What is wrong shall be known now, not when nobody waits for it.
    const { address } = runtime.session(sessionKey, { agent })
    if (model !== undefined) await runtime.models.get(model)
    const files = attachments.length === 0 ? undefined : await filesOf(runtime, sessionKey, attachments)
    const message = { type: 'message', text, files, id, agent, model, queueMode }
    await runtime.publish(runtime.subjects.in(address), new TextEncoder().encode(JSON.stringify(message)), id)
  },
  settled: (timeoutMs) => runtime.settled(timeoutMs),
  close: async () => {
    // Also keeps the process alive until the store has closed: its own thread does not.
    const patience = setTimeout(leave, closeMs)
    await share?.drain()
    await runtime.close()
    await share?.close()
    clearTimeout(patience)
  },
})

/** What is published names files that are kept. @throws RuntimeError as `files.put` does; not_found */
const filesOf = async (runtime: Runtime, sessionKey: string, attachments: readonly Attachment[]): Promise<FileRef[]> => {
  const { files: known } = await runtime.command<{ files: FileRef[] }>('files.list', { sessionKey })
  const files: FileRef[] = []
  for (const [index, { id, content, mimeType, fileName }] of attachments.entries()) {
    const file =
      id === undefined ? await runtime.command<FileRef>('files.put', { content, mimeType, fileName, sessionKey }) : known.find((one) => one.id === id)
    if (file === undefined)
      throw new RuntimeError('not_found', `there is no file ${id}`, { field: `attachments.${index}.id`, hint: 'put it with the key of the session' })
    const { warnings: _, ...ref } = file as FileRef & { warnings?: unknown }
    files.push(ref)
  }
  return files
}

/** What is not closed by then is as good as killed, and a kill loses nothing. */
const closeMs = 10_000
