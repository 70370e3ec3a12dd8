/** `statecast send`: one message, one answer. */

import { randomUUID } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { type Client, follow } from '../client/index.ts'
import type { CommandInput } from '../contracts/commands.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { FileRef, FileWarning } from '../contracts/file.ts'
import { fileBytesMax, smallerFile } from '../contracts/file-limits.ts'
import { textMax } from '../contracts/text.ts'
import { printAnswer } from './answer.ts'
import { approvalNeeded, progressText } from './cards.ts'
import { connect } from './connect.ts'
import { isDirective, originHere } from './directives.ts'
import { followedFrom } from './follow.ts'
import type { Options } from './globals.ts'
import { decoded } from './lines.ts'
import { dim, exitCodes, note, print, printable, printJson } from './output.ts'
import { resolvePath, streams } from './surroundings.ts'

type SendOptions = Options<{ idempotencyKey?: string; wait?: boolean; agent?: string; model?: string; file?: string[] }>

export const send = async (options: SendOptions, sessionKey: string, text: string): Promise<number> => {
  const { json = false, idempotencyKey, agent, model } = options
  const message = text === '-' ? await textFromStdin() : text
  const client = await connect(options)
  const words = {
    message,
    // A command is carried out as in a chat: `/stop` stops the turn, `/context` is answered by the session. All else is the model's as it stands, a plain `stop` as well: scripts write it.
    origin: message.startsWith('/') && isDirective(message) ? originHere(sessionKey) : undefined,
    idempotencyKey,
    agent,
    model,
  }
  try {
    const files = await upload(client, sessionKey, options.file ?? [])
    if (files.length > 0) Object.assign(words, { attachments: files.map(({ id, fileName }) => ({ id, fileName })) })
    if (options.wait === false) {
      const accepted = await handOver(client, { sessionKey, ...words })
      if (json) printJson(accepted)
      else print(`${accepted.status} ${accepted.runId}`)
      if (client.url === undefined) note('no node is running: the message is stored, and answered when one runs next (statecast up)')
      return exitCodes.fine
    }
    const followed = await follow(client, { sessionKey, ...words }, followedFrom(options))
    return await printAnswer(followed, {
      json,
      hear: (event) => {
        const progress = progressText(event)
        if (progress !== undefined && !json) note(dim(progress))
        if (event.type === 'approval') throw approvalNeeded(sessionKey, event, options)
        return false
      },
      interrupt: () => client.command('chat.abort', { sessionKey }).catch(() => followed.stop()),
    })
  } finally {
    await client.close()
  }
}

/** Without a node nothing is begun: this process would leave it in the middle. */
const handOver = async (client: Client, words: CommandInput<'chat.send'>): Promise<{ runId: string; status: string }> => {
  if (!client.store) return client.command('chat.send', words)
  const id = words.idempotencyKey ?? `m-${randomUUID()}`
  await client.store({ ...words, idempotencyKey: id })
  return { runId: id, status: 'stored' }
}

/** One request a file, so that none is too large for its way. @throws RuntimeError bad_request, too_large, unsupported */
const upload = async (client: Client, sessionKey: string, paths: readonly string[]): Promise<FileRef[]> => {
  const files: FileRef[] = []
  for (const path of paths) {
    const { warnings = [], ...file } = await client.command<FileRef & { warnings?: FileWarning[] }>('files.put', {
      sessionKey,
      content: (await contentOf(path)).toString('base64'),
      fileName: basename(path),
    })
    for (const warning of warnings) note(`${printable(warning.fileName)}: ${warning.message}`)
    files.push(file)
  }
  return files
}

const contentOf = async (path: string): Promise<Buffer> => {
  try {
    const { size } = await stat(resolvePath(path))
    if (size <= fileBytesMax) return await readFile(resolvePath(path))
    throw new RuntimeError('too_large', `${path} has ${size} bytes, a file may have ${fileBytesMax}`, { field: 'file', hint: smallerFile })
  } catch (cause) {
    if (isRuntimeError(cause)) throw cause
    throw new RuntimeError('bad_request', `${path} cannot be read`, { cause, field: 'file', hint: 'give the path of a file' })
  }
}

/** All of it, as one message; more than a message may have is not kept. */
const textFromStdin = async (): Promise<string> => {
  let text = ''
  for await (const part of decoded(streams().stdin)) if (text.length <= textMax) text += part
  return text.replace(/\r?\n$/, '')
}
