/** How the packages of the AI SDK reach a provider: no other server, and nothing behind the end of its answer. */
import { answerEvents } from './event-stream.ts'
import { providerError } from './provider-error.ts'
import { proxiedFetch } from './proxy.ts'
import type { Variables } from './server.ts'
import { onBytesOf } from './signs-of-life.ts'

const redirectsMax = 3
/** They keep the method and the body; of the others, a question would arrive as one without content. */
const repeating = new Set([307, 308])

/**
 * `fetch` that sends the key to the configured server and to no other: a redirect to another origin is refused. What a server still sends
 * after `[DONE]` is no part of its answer, and is not waited for; a count of tokens that is no number costs no answer. The text of a refusal is read up to a limit, and no line may be longer than an answer.
 * @param variable names the address, for the hint
 */
export const providerFetch = (variable: string, env: Variables): typeof globalThis.fetch => {
  const request = proxiedFetch(env)
  return async (input, init) => {
    let url = new URL(input instanceof Request ? input.url : input)
    for (let redirects = 0; ; redirects++) {
      const response = await request(url, { ...init, redirect: 'manual' })
      const sign = onBytesOf(init?.signal)
      sign()
      const target = targetOf(response, url)
      if (target === undefined) return bounded(response, sign)
      await response.body?.cancel()
      if (target.origin !== url.origin || !repeating.has(response.status) || redirects === redirectsMax) throw refused(url, target, variable)
      url = target
    }
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

const bounded = (response: Response, sign: () => void): Response =>
  response.body === null ? response : new Response(response.body.pipeThrough(response.ok ? answerEvents(sign) : upTo(errorBytesMax)), response)

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
