/** The main thread's side of the writer: everything asked within one turn of the event loop travels as one message. */
import { Worker } from 'node:worker_threads'
import { RuntimeError } from '../../contracts/errors.ts'
import { closedError } from '../closable.ts'
import { gateOf } from '../fail-gate.ts'
import { packRequests, type WriteRequest, type WriteResult, type WriterMessage } from './requests.ts'

/** What may wait for the writer; beyond it the disk is too slow for what is asked. */
const waitingRequestsMax = 200_000
const waitingBytesMax = 512 * 1024 * 1024

export type Writer = {
  /**
   * Resolves when the request is committed. Bytes belong to the writer until then.
   * @param sent called right after the request left for the thread; what it returns delays the answer
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

type Waiting = {
  request: WriteRequest
  sizeBytes: number
  sent: (() => void | Promise<void>) | undefined
  gate: Promise<void> | undefined
  resolve: (result: number) => void
  reject: (error: unknown) => void
}

/** From source under type stripping, or compiled. */
const writerProgram = new URL(import.meta.url.endsWith('.ts') ? './writer.ts' : './writer.js', import.meta.url)

/** @param program another one only in tests. @throws RuntimeError whatever the database refuses to open with */
export const startWriter = async (file: string, program = writerProgram): Promise<Writer> => {
  const worker = new Worker(program, {
    workerData: { file },
    name: 'statecast-writer',
    execArgv: [],
  })
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  let queued: Waiting[] = []
  const sentOff: Waiting[][] = []
  let waitingRequests = 0
  let waitingBytes = 0
  let closing: Promise<void> | undefined
  /** Why the thread is dead. */
  let failure: RuntimeError | undefined
  let lost: RuntimeError | undefined
  /** What SQLite said when it found the file broken, here or in the thread; what can be read may still be worth something. */
  let broken: RuntimeError | undefined

  const settle = (waiting: Waiting, result: WriteResult): void => {
    waitingRequests -= 1
    waitingBytes -= waiting.sizeBytes
    // A script that has nothing else to do may end; one that waits for an answer, or for the end, may not.
    if (waitingRequests === 0 && closing === undefined) worker.unref()
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

  const flush = (): void => {
    const batch = queued
    queued = []
    if (batch.length === 0) return
    const refusal = failure ?? lost ?? broken
    if (refusal !== undefined) {
      for (const waiting of batch) settle(waiting, { error: refusal.toJSON() })
      return
    }
    try {
      const packed = packRequests(batch.map(({ request }) => request))
      worker.postMessage(packed, [packed.bytes])
    } catch (error) {
      for (const waiting of batch) settle(waiting, { error: unanswered(error).toJSON() })
      return
    }
    sentOff.push(batch)
    for (const waiting of batch) if (waiting.sent !== undefined) waiting.gate = gateOf(waiting.sent)
  }

  const die = (error: unknown): void => {
    failure ??= unanswered(error)
    opened.reject(failure)
    for (const batch of [...sentOff.splice(0), queued]) for (const waiting of batch) answer(waiting, { error: failure.toJSON() })
    queued = []
    ended.resolve()
  }

  worker.on('message', (message: WriterMessage) => {
    if ('results' in message) {
      // One message may answer several batches that shared a commit.
      let at = 0
      while (at < message.results.length) for (const waiting of sentOff.shift() ?? []) answer(waiting, message.results[at++] as WriteResult)
    } else if ('lost' in message) lost ??= RuntimeError.from(message.lost)
    else if ('broken' in message) broken ??= RuntimeError.from(message.broken)
    else if ('ready' in message) opened.resolve()
    else if ('failed' in message) opened.reject(RuntimeError.from(message.failed))
    else ended.resolve()
  })
  worker.on('error', die)
  worker.on('exit', (code) => (closing === undefined || sentOff.length > 0 ? die(new Error(`it ended with code ${code}`)) : ended.resolve()))

  await opened.promise.catch(async (error: unknown) => {
    await worker.terminate()
    throw error
  })
  worker.unref()

  return {
    write: (request, sent) =>
      new Promise((resolve, reject) => {
        const last = request.at(-1)
        const sizeBytes = last instanceof Uint8Array ? last.length : 0
        const refusal = closing === undefined ? (failure ?? lost ?? broken ?? overload(waitingRequests, waitingBytes + sizeBytes)) : closedError()
        if (refusal !== undefined) return reject(refusal)
        if (waitingRequests === 0) worker.ref()
        waitingRequests += 1
        waitingBytes += sizeBytes
        // The next-tick queue runs after all microtasks: whoever is woken by the last answer joins this batch.
        if (queued.push({ request, sizeBytes, sent, gate: undefined, resolve, reject }) === 1) process.nextTick(flush)
      }),
    failure: () => failure ?? lost ?? broken,
    lost: () => lost,
    refuse: (error) => {
      broken ??= error
    },
    close: () => {
      closing ??= (async () => {
        flush()
        if (failure === undefined) {
          worker.ref()
          worker.postMessage('close')
        }
        await ended.promise
        await worker.terminate()
      })()
      return closing
    },
  }
}

const unanswered = (cause: unknown): RuntimeError =>
  new RuntimeError('log_unavailable', `the journal's writer gave no answer: ${cause instanceof Error ? cause.message : String(cause)}`, {
    cause,
    hint: 'restart the process; what was acknowledged is safe',
  })

const overload = (requests: number, bytes: number): RuntimeError | undefined =>
  requests < waitingRequestsMax && bytes <= waitingBytesMax
    ? undefined
    : new RuntimeError('overloaded', `${requests} writes wait for the disk`, { retryable: true, hint: 'the disk is slower than the load; try again' })
