/** The main thread's end of the writer thread: batches go out, answers come back in their order, and its death answers everything. */
import { Worker } from 'node:worker_threads'
import { RuntimeError } from '../../contracts/errors.ts'
import { packRequests, type WriteRequest, type WriterAnswer, type WriterMessage } from './requests.ts'

export type WriterThread = {
  /** @throws what keeps the batch from being sent */
  send(requests: WriteRequest[], groups: number): void
  /** Moves pages from the write-ahead log into the database, after what was sent before. */
  checkpoint(): void
  /** Whether the process stays alive for it. */
  hold(on: boolean): void
  /** Ends it: the log is emptied, the count of groups noted. */
  close(groups: number): Promise<void>
}

type ThreadListener = {
  answered(answer: WriterAnswer): void
  /** @param all that was in the log is in the database, but for what came meanwhile */
  checkpointed(all: boolean): void
  lost(error: RuntimeError): void
  broken(error: RuntimeError): void
  /** Nothing that was sent will be answered any more. */
  died(failure: RuntimeError): void
}

/** From source under type stripping, or compiled. */
export const writerProgram = new URL(import.meta.url.endsWith('.ts') ? './writer.worker.ts' : './writer.worker.js', import.meta.url)

/** @throws RuntimeError whatever the database refuses to open with */
export const startThread = async (file: string, program: URL, listener: ThreadListener): Promise<WriterThread> => {
  const worker = new Worker(program, { workerData: { file }, name: 'statecast-writer', execArgv: [] })
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  let failure: RuntimeError | undefined
  let closed = false

  const die = (error: unknown): void => {
    failure ??= unanswered(error)
    opened.reject(failure)
    listener.died(failure)
    ended.resolve()
  }

  worker.on('message', (message: WriterMessage) => {
    if ('results' in message) listener.answered(message)
    else if ('lost' in message) listener.lost(RuntimeError.from(message.lost))
    else if ('broken' in message) listener.broken(RuntimeError.from(message.broken))
    else if ('checkpointed' in message) listener.checkpointed(message.checkpointed)
    else if ('ready' in message) opened.resolve()
    else if ('failed' in message) opened.reject(RuntimeError.from(message.failed))
    else {
      closed = true
      ended.resolve()
    }
  })
  worker.on('error', die)
  worker.on('exit', (code) => (closed ? ended.resolve() : die(new Error(`it ended with code ${code}`))))

  await opened.promise.catch(async (error: unknown) => {
    await worker.terminate()
    throw error
  })
  worker.unref()

  return {
    send(requests, groups) {
      const packed = packRequests(requests, groups)
      worker.postMessage(packed, [packed.bytes])
    },
    checkpoint: () => worker.postMessage('checkpoint'),
    hold: (on) => (on ? worker.ref() : worker.unref()),
    async close(groups) {
      if (failure === undefined) {
        worker.ref()
        worker.postMessage({ close: groups })
      }
      await ended.promise
      await worker.terminate()
    },
  }
}

export const unanswered = (cause: unknown): RuntimeError =>
  new RuntimeError('log_unavailable', `the journal's writer gave no answer: ${cause instanceof Error ? cause.message : String(cause)}`, {
    cause,
    hint: 'restart the process; what was acknowledged is safe',
  })
