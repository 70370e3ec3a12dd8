/**
 * The files of messages: contents in the blobs of the transport, named by their hash; whose they are in its registry. A content is kept as long as a
 * session names it, or somebody has uploaded it within a day and may still send it.
 *
 *     files.<session>.<id>   what it is        file.<id>.<session>   who names it        uploaded.<id>.<token>   what it is, and since when
 *
 * Knowing the hash of a content is not having it: an upload is for the token that made it, and one into a session for that session alone.
 */
import { createHash } from 'node:crypto'
import type { Environment } from '../../contracts/environment.ts'
import { errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import type { FileRef, FileWarning } from '../../contracts/file.ts'
import { fileBytesMax } from '../../contracts/file-limits.ts'
import type { Transport } from '../../contracts/transport.ts'
import type { MediaKind } from '../../contracts/understanding.ts'
import { checkFileSize, cleanFileName } from './content.rules.ts'
import { PendingUploads, type UploadLimits } from './pending.ts'
import { plainType, sniff } from './sniff.rules.ts'

type Given = { bytes: Uint8Array; mimeType?: string | undefined; fileName?: string | undefined }
type Uploaded = FileRef & { at: number }
/** Where it goes, and who gives it: the id of a token, left out for who may do everything. */
type Giver = { session?: string | undefined; by?: string | undefined }

/** Of uploads by the token of the node, or by code. */
const nodeItself = 'node'

const uploadMs = 24 * 3_600_000
const sweepMs = 3_600_000

/** A key may be longer than the name of an entry. */
const sessionName = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 32)

export class FileStore {
  readonly #transport: Pick<Transport, 'blobs' | 'registry'>
  readonly #environment: Pick<Environment, 'clock' | 'log'>
  readonly #pending: PendingUploads
  #sweptAt = 0
  #kinds: readonly MediaKind[] = []

  constructor(transport: Pick<Transport, 'blobs' | 'registry'>, environment: Pick<Environment, 'clock' | 'log'>, limits?: UploadLimits) {
    this.#pending = new PendingUploads(transport.registry, environment.clock, limits)
    this.#transport = transport
    this.#environment = environment
  }

  /** What is to be seen and to be heard is taken in where somebody can say what is in it; images always are. */
  admit(kinds: readonly MediaKind[]): void {
    this.#kinds = kinds
  }

  /**
   * Keeps a content for a day, until a message names it. Durable when it resolves.
   * @returns a warning alone for what no model could read
   * @throws RuntimeError too_large, bad_request, overloaded, log_full …
   */
  async put(
    { bytes, mimeType: claim = '', fileName }: Given,
    field: string,
    { session, by }: Giver = {},
  ): Promise<{ file?: FileRef; warning?: FileWarning }> {
    checkFileSize(bytes.length, field)
    const mimeType = this.#typeOf(bytes, claim)
    const name = cleanFileName(fileName, mimeType ?? '')
    if (mimeType === undefined) {
      const warning = { fileName: name, message: 'left out: it is neither an image (PNG, JPEG, GIF, WebP) nor a PDF nor UTF-8 text' }
      this.#environment.log.warn({ fileName: name, reason: warning.message, claim: plainType(claim).slice(0, 100) }, 'a file was left out')
      return { warning }
    }
    await this.#sweep()
    const { blobs, registry } = this.#transport
    const { id } = await this.#pending.counted(by, bytes.length, async () => ({ id: await blobs.put(bytes) }))
    const file: FileRef = { id, mimeType, bytes: bytes.length, fileName: name }
    if (session !== undefined) await this.share(session, [file])
    else {
      const uploaded: Uploaded = { ...file, at: this.#environment.clock.now() }
      await registry.put(`uploaded.${id}.${by ?? nodeItself}`, JSON.stringify(uploaded))
    }
    // It may have been deleted since it was found there.
    if (!(await blobs.has(id))) await blobs.put(bytes)
    if (!isOtherThan(claim, mimeType)) return { file }
    const warning = { fileName: name, message: `labelled ${plainType(claim).slice(0, 100)}, but its content is ${mimeType}: taken as that` }
    this.#environment.log.warn({ fileName: name, reason: warning.message }, 'a file is not what it was labelled')
    return { file, warning }
  }

  #typeOf(bytes: Uint8Array, claim: string): string | undefined {
    const mimeType = sniff(bytes, claim)
    const kind = (['audio', 'video'] as const).find((one) => mimeType?.startsWith(`${one}/`))
    return kind === undefined || this.#kinds.includes(kind) ? mimeType : undefined
  }

  /** The files of a message as they are kept; from here on the session names them. @throws RuntimeError not_found for one that was neither uploaded nor sent there */
  async link(session: string, files: readonly Pick<FileRef, 'id' | 'fileName'>[], field = 'files'): Promise<FileRef[]> {
    const { registry } = this.#transport
    const linked: FileRef[] = []
    for (const [index, { id, fileName }] of files.entries()) {
      const known = await this.#known(session, id, `${field}.${index}.id`)
      const file = { ...known, fileName: cleanFileName(fileName, known.mimeType) }
      await registry.put(`file.${id}.${sessionName(session)}`, '1')
      await registry.put(`files.${sessionName(session)}.${id}`, JSON.stringify(file))
      await this.#pending.taken(id)
      linked.push(file)
    }
    return linked
  }

  /** What is known of a file that may be sent in a session. @param by the token of who sends it @throws RuntimeError not_found */
  async known(
    session: string,
    id: string,
    field: string,
    { fileName, by }: { fileName?: string | undefined; by?: string | undefined } = {},
  ): Promise<FileRef> {
    const known = await this.#known(session, id, field, by)
    return fileName === undefined ? known : { ...known, fileName: cleanFileName(fileName, known.mimeType) }
  }

  /** @param by left out where somebody asks who may use all uploads */
  async #known(session: string, id: string, field: string, by?: string): Promise<FileRef> {
    const { blobs, registry } = this.#transport
    const own = await registry.get(`files.${sessionName(session)}.${id}`)
    const found = own ?? (by === undefined ? (await registry.list(`uploaded.${id}.`))[0] : await registry.get(`uploaded.${id}.${by}`))
    if (found && (await blobs.has(id))) return fileIn(found.value)
    throw new RuntimeError('not_found', `there is no file ${id.slice(0, 64)}`, {
      field,
      hint: 'upload it first: what is not sent within a day is forgotten',
    })
  }

  /** The files that the messages of a session name, with those that it has named and forgotten in a reset. */
  async list(session: string): Promise<FileRef[]> {
    const entries = await this.#transport.registry.list(`files.${sessionName(session)}.`)
    return entries.map(({ value }) => fileIn(value))
  }

  /** @throws RuntimeError not_found also where another session has it */
  async read(session: string, id: string): Promise<{ file: FileRef; bytes: Uint8Array }> {
    const found = await this.#transport.registry.get(`files.${sessionName(session)}.${id}`)
    if (found === undefined)
      throw new RuntimeError('not_found', `session '${session.slice(0, 80)}' has no file ${id.slice(0, 64)}`, {
        hint: 'chat.history names its files',
      })
    return { file: fileIn(found.value), bytes: await this.#transport.blobs.get(id) }
  }

  /** For a model: what has gone, or cannot be read, is undefined, and fails no turn. */
  async content(id: string): Promise<Uint8Array | undefined> {
    try {
      return await this.#transport.blobs.get(id)
    } catch (error) {
      this.#environment.log.warn({ id, error: errorBody(error) }, 'a file of a message could not be read')
      return undefined
    }
  }

  /** A thread begins with what was said elsewhere: its files are its own then. Those that have gone stay gone. */
  async share(session: string, files: readonly FileRef[]): Promise<void> {
    const { registry } = this.#transport
    for (const file of files) {
      await registry.put(`file.${file.id}.${sessionName(session)}`, '1')
      await registry.put(`files.${sessionName(session)}.${file.id}`, JSON.stringify(file))
    }
  }

  /** The session is gone, and so are its files that nobody else names. */
  async forget(session: string): Promise<void> {
    const { registry } = this.#transport
    for (const { key } of await registry.list(`files.${sessionName(session)}.`)) {
      const id = key.slice(-64)
      await registry.delete(`file.${id}.${sessionName(session)}`)
      await this.#deleteUnnamed(id)
      await registry.delete(key)
    }
  }

  async #deleteUnnamed(id: string): Promise<void> {
    const { blobs } = this.#transport
    if (await this.#isNamed(id)) return
    const bytes = await blobs.get(id).catch(() => undefined)
    await blobs.delete(id)
    // Somebody has sent the same content at this moment, and found it there.
    if (bytes !== undefined && bytes.length <= fileBytesMax && (await this.#isNamed(id))) await blobs.put(bytes)
  }

  async #isNamed(id: string): Promise<boolean> {
    const { registry } = this.#transport
    return (await registry.list(`uploaded.${id}.`)).length > 0 || (await registry.list(`file.${id}.`)).length > 0
  }

  /** What was uploaded and never sent goes after a day. No clock is set for it: who uploads looks after it. */
  async #sweep(): Promise<void> {
    const { clock, log } = this.#environment
    const now = clock.now()
    if (now - this.#sweptAt < sweepMs) return
    this.#sweptAt = now
    const { registry } = this.#transport
    try {
      for (const { key, value, revision } of await registry.list('uploaded.')) {
        if (now - (JSON.parse(value) as Uploaded).at < uploadMs) continue
        if (await registry.delete(key, { expected: revision })) await this.#deleteUnnamed((JSON.parse(value) as Uploaded).id)
      }
    } catch (error) {
      if (isRuntimeError(error) && error.code === 'closed') throw error
      log.warn({ error: errorBody(error) }, 'uploads that nobody has sent could not be looked through')
    }
  }
}

const fileIn = (value: string): FileRef => {
  const { id, mimeType, bytes, fileName } = JSON.parse(value) as FileRef
  return { id, mimeType, bytes, fileName }
}

/** Nothing is wrong with a text that its sender took for unknown bytes. */
const isOtherThan = (claim: string, mimeType: string): boolean => {
  const plain = plainType(claim)
  return plain !== '' && plain !== 'application/octet-stream' && plain !== mimeType && !(plain === 'image/jpg' && mimeType === 'image/jpeg')
}
