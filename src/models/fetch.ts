/** How the packages of the AI SDK reach a provider: no other server, and nothing behind the end of its answer. */
import { providerError } from './provider-error.ts'

const redirectsMax = 3
/** They keep the method and the body; of the others, a question would arrive as one without content. */
const repeating = new Set([307, 308])

/**
 * `fetch` that sends the key to the configured server and to no other: a redirect to another origin is refused. What a server still sends
 * after `[DONE]` is no part of its answer, and is not waited for. The text of a refusal is read up to a limit, and no line may be longer than an answer.
 * @param variable names the address, for the hint
 */
export const providerFetch =
  (variable: string): typeof globalThis.fetch =>
  async (input, init) => {
    let url = new URL(input instanceof Request ? input.url : input)
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(url, { ...init, redirect: 'manual' })
      const target = targetOf(response, url)
      if (target === undefined) return bounded(response)
      await response.body?.cancel()
      if (target.origin !== url.origin || !repeating.has(response.status) || redirects === redirectsMax) throw refused(url, target, variable)
      url = target
    }
  }

const targetOf = ({ status, headers }: Response, from: URL): URL | undefined => {
  const location = headers.get('location')
  return status >= 300 && status < 400 && location !== null && URL.canParse(location, from.href) ? new URL(location, from) : undefined
}

/** Without what may be a secret in it. */
const shown = ({ origin, pathname }: URL): string => `${origin}${pathname}`.slice(0, 200)

const refused = (from: URL, target: URL, variable: string) =>
  providerError(
    'provider_rejected',
    `${shown(from)} redirects to ${shown(target)}, which is not followed: the key and the conversation would go there`,
    {
      hint: `if that is the address you mean, set ${variable} to it`,
    },
  )

/** Bytes that are read of an answer that is an error. */
const errorBytesMax = 1024 * 1024
/** Bytes of one line of a stream, which is kept until it ends. */
const lineBytesMax = 16 * 1024 * 1024

const bounded = (response: Response): Response =>
  response.body === null ? response : new Response(response.body.pipeThrough(response.ok ? untilDone() : upTo(errorBytesMax)), response)

const upTo = (max: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> => {
  let left = max
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) controller.terminate()
    },
  })
}

const newline = 0x0a
const done = Buffer.from('[DONE]')
/** `data:` with a space, the mark, and a carriage return. */
const markBytesMax = 16

/** Ends a stream of events where one says so. Lines are looked at as bytes, and only short ones: most are long, and are passed on as they are. */
const untilDone = (): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> => {
  let line = Buffer.alloc(0)
  let isLong = false
  let lineBytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      for (let from = 0; from < chunk.length; ) {
        const end = chunk.indexOf(newline, from)
        const to = end < 0 ? chunk.length : end
        if (!isLong && line.length + to - from <= markBytesMax) line = Buffer.concat([line, chunk.subarray(from, to)])
        else isLong = true
        lineBytes += to - from
        // The reader finds an answer that broke off.
        if (lineBytes > lineBytesMax) return controller.terminate()
        if (end >= 0) {
          if (!isLong && isDone(line)) {
            controller.enqueue(chunk.subarray(0, end + 1))
            // Cancels the connection, too.
            controller.terminate()
            return
          }
          line = Buffer.alloc(0)
          isLong = false
          lineBytes = 0
        }
        from = to + 1
      }
      controller.enqueue(chunk)
    },
  })
}

const isDone = (line: Buffer): boolean => line.includes(done) && /^data: ?\[DONE\]\s*$/.test(line.toString('latin1'))
