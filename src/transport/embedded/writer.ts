/**
 * What the main thread asks of the store: everything asked within one turn of the event loop is one batch. It is committed here, or by the writer
 * thread, and never by both at a time: the thread's batches are answered before the next one is committed here.
 */
import { RuntimeError } from '../../contracts/errors.ts'
import { closedError } from '../closable.ts'
import { gateOf } from '../fail-gate.ts'
import { Pace } from './pace.ts'
import type { WriteRequest, WriteResult, WriterAnswer } from './requests.ts'
import { type WriterHere, writerHere } from './writer.here.ts'
import { startThread, unanswered, type WriterThread, writerProgram } from './writer.link.ts'

/** What may wait for the writer; beyond it the disk is too slow for what is asked. */
const waitingRequestsMax = 200_000
const waitingBytesMax = 512 * 1024 * 1024

/** Pages in the write-ahead log, by a rough count, after which they are moved into the database. */
const checkpointPages = 1_000
/** With so many, commits go to the thread until the log could be begun anew: there they cannot add to it while it is emptied. */
const logPagesMax = 4 * checkpointPages
const pageBytes = 4096

export type Writer = {
  /**
   * Resolves when the request is committed. Bytes belong to the writer until then.
   * @param sent called when the request was handed over, before its answer; what it returns delays the answer
   * @throws RuntimeError closed, overloaded, log_full, corrupt_at, log_unavailable (it may have been written)
   */
  write(request: WriteRequest, sent?: () => void | Promise<void>): Promise<number>
  /** Why nothing can be written any more, if so. */
  failure(): RuntimeError | undefined
  /** That the files are not in their folder any more, if so: then what can be read is worth as little as what could be written. */
  lost(): RuntimeError | undefined
  /** Refuses everything from here on with this error: a reader has found that the file is broken. */
  refuse(broken: RuntimeError): void
  /** Commits what is queued, empties the write-ahead log, ends the thread. */
  close(): Promise<void>
}

export type WriterOptions = {
  /** Another program for the thread, in tests. */
  program?: URL
  /** Says which batches are committed on the main thread; another one in tests. */
  pace?: Pick<Pace, 'here' | 'took'>
}

type Waiting = {
  request: WriteRequest
  sizeBytes: number
  sent: (() => void | Promise<void>) | undefined
  gate: Promise<void> | undefined
  resolve: (result: number) => void
  reject: (error: unknown) => void
}

/** @throws RuntimeError whatever the database refuses to open with */
export const startWriter = async (file: string, { program = writerProgram, pace = new Pace() }: WriterOptions = {}): Promise<Writer> => {
  let queued: Waiting[] = []
  const sentOff: Waiting[][] = []
  let waitingRequests = 0
  let waitingBytes = 0
  let logPages = 0
  let nextCheckpoint = checkpointPages
  let checkpointing = false
  let closing: Promise<void> | undefined
  /** Why nothing can be written any more. */
  let failure: RuntimeError | undefined
  let lost: RuntimeError | undefined
  /** What SQLite said when it found the file broken, here or in the thread; what can be read may still be worth something. */
  let broken: RuntimeError | undefined

  const settle = (waiting: Waiting, result: WriteResult): void => {
    waitingRequests -= 1
    waitingBytes -= waiting.sizeBytes
    if (typeof result === 'number') waiting.resolve(result)
    else waiting.reject(RuntimeError.from(result.error))
  }

  const answer = (waiting: Waiting, result: WriteResult): void => {
    if (waiting.gate === undefined) settle(waiting, result)
    else
      waiting.gate.then(
        () => settle(waiting, result),
        (error: unknown) => settle(waiting, { error: unanswered(error).toJSON() }),
      )
  }
  const answerAll = (batch: Waiting[], error: RuntimeError): void => {
    for (const waiting of batch) answer(waiting, { error: error.toJSON() })
  }

  const fail = (error: RuntimeError): void => {
    failure ??= error
    for (const batch of [...sentOff.splice(0), queued.splice(0)]) answerAll(batch, failure)
  }

  const thread = await startThread(file, program, {
    answered({ results, groups, tookMs }) {
      here.follow(groups)
      pace.took(tookMs, results.length)
      // One message may answer several batches that shared a commit.
      let at = 0
      while (at < results.length) for (const waiting of sentOff.shift() ?? []) answer(waiting, results[at++] as WriteResult)
      // A script that has nothing else to do may end; one that waits for an answer, or for the end, may not.
      if (sentOff.length === 0 && closing === undefined) thread.hold(false)
    },
    checkpointed(all) {
      checkpointing = false
      // What was committed here meanwhile is little, and moved before anything else can be: so the next commit begins the log anew.
      if (all && failure === undefined && closing === undefined && here.checkpoint()) logPages = 0
      nextCheckpoint = logPages + checkpointPages
    },
    lost(error) {
      lost ??= error
    },
    broken(error) {
      broken ??= error
    },
    died: fail,
  })
  const here = await openHere(file, thread)

  /** @returns whether it was done, well or not */
  const commitHere = (batch: Waiting[]): boolean => {
    let done: WriterAnswer | undefined
    try {
      done = here.commit(batch.map(({ request }) => request))
    } catch (error) {
      fail(unanswered(error))
      answerAll(batch, unanswered(error))
      return true
    }
    if (done === undefined) return false
    pace.took(done.tookMs, batch.length)
    lost ??= here.lost()
    broken ??= here.broken()
    for (const [index, waiting] of batch.entries()) {
      if (waiting.sent !== undefined) waiting.gate = gateOf(waiting.sent)
      answer(waiting, done.results[index] as WriteResult)
    }
    return true
  }

  const send = (batch: Waiting[]): void => {
    try {
      thread.send(
        batch.map(({ request }) => request),
        here.groups(),
      )
    } catch (error) {
      answerAll(batch, unanswered(error))
      return
    }
    if (sentOff.push(batch) === 1) thread.hold(true)
    for (const waiting of batch) if (waiting.sent !== undefined) waiting.gate = gateOf(waiting.sent)
  }

  const flush = (): void => {
    const batch = queued
    queued = []
    if (batch.length === 0) return
    const refusal = failure ?? lost ?? broken
    if (refusal !== undefined) {
      answerAll(batch, refusal)
      return
    }
    let sizeBytes = 0
    for (const waiting of batch) sizeBytes += waiting.sizeBytes
    const light = sentOff.length === 0 && logPages < logPagesMax && pace.here(batch.length, sizeBytes)
    if (!light || !commitHere(batch)) send(batch)
    // In the thread, or one commit of some hundred would hold its turn up for as long as that takes.
    logPages += 2 + batch.length + Math.ceil(sizeBytes / pageBytes)
    if (logPages < nextCheckpoint || checkpointing || failure !== undefined) return
    checkpointing = true
    thread.checkpoint()
  }

  return {
    write: (request, sent) =>
      new Promise((resolve, reject) => {
        const last = request.at(-1)
        const sizeBytes = last instanceof Uint8Array ? last.length : 0
        const refusal = closing === undefined ? (failure ?? lost ?? broken ?? overload(waitingRequests, waitingBytes + sizeBytes)) : closedError()
        if (refusal !== undefined) return reject(refusal)
        waitingRequests += 1
        waitingBytes += sizeBytes
        // When all that is ready has run: what it asks joins this batch, and one who writes again and again keeps nobody from being heard.
        if (queued.push({ request, sizeBytes, sent, gate: undefined, resolve, reject }) === 1) setImmediate(flush)
      }),
    failure: () => failure ?? lost ?? broken,
    lost: () => lost,
    refuse: (error) => {
      broken ??= error
    },
    close: () => {
      closing ??= (async () => {
        flush()
        // Before the thread's connection, which as the last one tidies up.
        here.close()
        await thread.close(here.groups())
      })()
      return closing
    },
  }
}

const openHere = async (file: string, thread: WriterThread): Promise<WriterHere> => {
  try {
    return writerHere(file)
  } catch (error) {
    await thread.close(0)
    throw error
  }
}

const overload = (requests: number, bytes: number): RuntimeError | undefined =>
  requests < waitingRequestsMax && bytes <= waitingBytesMax
    ? undefined
    : new RuntimeError('overloaded', `${requests} writes wait for the disk`, { retryable: true, hint: 'the disk is slower than the load; try again' })
