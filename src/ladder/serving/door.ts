/** Who may come in: whoever shows the token, whoever the author lets in, or, where neither is asked for, this machine alone. */
import { LadderError } from '../errors.ts'
import { Refusal } from './refusal.ts'

export type DoorOptions = {
  /** What has to be shown as `Authorization: Bearer …`. `null`: nothing, and then this machine alone is served. */
  token?: string | null
  /** Lets a request in, instead of a token or besides it. One that throws lets nobody in. */
  authorise?: (request: Request) => boolean | Promise<boolean>
}
/** @param environment what the server hands over beside the request: it tells where that comes from @throws Refusal */
type Door = (request: Request, environment: unknown) => Promise<void>

/** Shorter ones can be guessed. */
const tokenCharactersMin = 16

/** @throws LadderError LADDER_CONFIG for no door at all, and for a token that could be guessed */
export const doorOf = ({ token, authorise }: DoorOptions): Door => {
  if (token === undefined && authorise === undefined)
    throw wrong(
      'executables are not served to everybody',
      'give serve() a token, or authorise: (request) => …; token: null serves this machine alone',
    )
  if (typeof token === 'string' && token.length < tokenCharactersMin)
    throw wrong(
      `a token of ${token.length} characters can be guessed`,
      `give one of ${tokenCharactersMin} characters at least, such as crypto.randomUUID()`,
    )
  if (authorise !== undefined && typeof authorise !== 'function') throw wrong('authorise is no function', 'write authorise: (request) => …')
  const isToken = typeof token === 'string' ? sameAs(token) : undefined
  return async (request, environment) => {
    if (isToken && !(await isToken(bearerIn(request))))
      throw new Refusal('unauthorised', 'a token is needed', { hint: "send 'Authorization: Bearer <token>'" })
    if (authorise) {
      if ((await letsIn(authorise, request)) !== true) throw new Refusal('unauthorised', 'this request is not let in')
    } else if (token === null) requireThisMachine(request, environment)
  }
}

const letsIn = async (authorise: NonNullable<DoorOptions['authorise']>, request: Request): Promise<boolean> => {
  try {
    return await authorise(request)
  } catch {
    return false
  }
}

const bearerIn = ({ headers }: Request): string => /^Bearer (\S{1,500})$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''

/** Takes the same time wherever they differ: hashes of one length are compared whole. */
const sameAs = (token: string): ((given: string) => Promise<boolean>) => {
  const known = digest(token)
  return async (given) => {
    const [one, other] = await Promise.all([known, digest(given)])
    let difference = 0
    for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] as number)
    return difference === 0
  }
}
const digest = async (text: string): Promise<Uint8Array> => new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))

/** A page of another site, also one whose name was pointed at this machine, carries its own name. */
const requireThisMachine = ({ url, headers }: Request, environment: unknown): void => {
  const { hostname, host } = new URL(url)
  const origin = headers.get('origin')
  const from = addressIn(environment)
  if (!isLoopback(hostname) || from === undefined || !isLoopback(from) || (origin !== null && origin.replace(/^https?:\/\//, '') !== host))
    throw new Refusal('forbidden', 'only this machine is served', {
      hint:
        from === undefined
          ? 'the server does not say where requests come from: hand over its second argument, or give serve() a token'
          : 'give serve() a token, and send it',
    })
}

const isLoopback = (name: string): boolean => /^(?:localhost|\[?::1\]?|(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/i.test(name)

/** As Node (`@hono/node-server`) and Deno say it. */
const addressIn = (environment: unknown): string | undefined => {
  const { incoming, remoteAddr } = (environment ?? {}) as { incoming?: { socket?: { remoteAddress?: string } }; remoteAddr?: { hostname?: string } }
  return incoming?.socket?.remoteAddress ?? remoteAddr?.hostname
}

const wrong = (message: string, hint: string): LadderError => new LadderError('LADDER_CONFIG', message, { hint })
