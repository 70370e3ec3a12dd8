/** A run as server-sent events: what it says, what it comes to, and a mark that this is the end. */
import { isRuntimeError } from '../../index.ts'
import type { AnyExecutable } from '../executable.ts'
import type { RunFeed } from '../heard.ts'
import { refusalOf } from './refusal.ts'

type Framed = {
  executable: AnyExecutable
  runId: string
  heard: RunFeed
  /** Ends the run when whoever reads it goes. */
  cancelsOnClose: boolean
}

/** ms; proxies cut off what says nothing for long. */
const heartMs = 15_000
const encoder = new TextEncoder()

const frame = (event: string, data: unknown, id?: string): Uint8Array =>
  encoder.encode(
    `${id === undefined ? '' : `id: ${id}\n`}event: ${event.replaceAll(/[\r\n]/g, ' ')}\ndata: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
  )

/** A frame is made when the one before has been taken: a reader who stands still costs no more than what `heard` keeps, and is then told of a gap. */
export const framesOf = (run: Framed): ReadableStream<Uint8Array> => {
  const gone = new AbortController()
  const frames = framed(run, gone.signal)
  let heart: ReturnType<typeof setInterval> | undefined
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        heart = setInterval(() => {
          // Where frames wait to be read, nobody needs to be told that we are here.
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': here\n\n'))
        }, heartMs)
      },
      async pull(controller) {
        const { value, done } = await frames.next()
        if (!done) return controller.enqueue(value)
        clearInterval(heart)
        controller.close()
      },
      async cancel() {
        clearInterval(heart)
        gone.abort()
        run.heard.stop()
        await frames.return(undefined)
        if (run.cancelsOnClose) await run.executable.cancel(run.runId, 'the client has gone').catch(() => undefined)
      },
    },
    { highWaterMark: 1 },
  )
}

async function* framed({ executable, runId, heard }: Framed, signal: AbortSignal): AsyncGenerator<Uint8Array, undefined> {
  yield frame('run', { runId, name: executable.name })
  const outcome = executable.outcome(runId, { signal })
  // What was said until then is told first.
  outcome.then(heard.end, heard.end)
  try {
    for await (const { event, place } of heard.events) yield frame(event.type, event, place)
  } catch (error) {
    if (!isRuntimeError(error) || error.code !== 'overloaded') throw error
    yield frame('gap', { why: 'too slow' })
  } finally {
    heard.stop()
  }
  try {
    const result = await outcome
    yield frame('result', { runId, status: result.report.status, ...result })
  } catch (error) {
    if (signal.aborted) return
    const { code, message, hint } = refusalOf(error)
    yield frame('error', { code, message, ...(hint !== undefined && { hint }) })
  }
  yield frame('done', '[DONE]')
}
