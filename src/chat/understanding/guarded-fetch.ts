/**
 * Fetches what a link that somebody sent leads to, and nothing else: an address is checked where it is connected to, so that a name which says something
 * else the second time leads nowhere; each hop of a redirect is a link of its own; what comes is text and not too much of it.
 */
import { lookup as systemLookup } from 'node:dns'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { RuntimeError } from '../../contracts/errors.ts'
import { checkUrl, hostOf, placeOf, refusedLink } from './guarded-url.ts'
import { isPublicAddress } from './public-address.ts'

type Fetched = { url: string; mimeType: string; text: string /** There was more of it. */; cut: boolean }
type GuardedFetch = {
  /** Places that are allowed wherever they are, `host:port`. */
  allow: ReadonlySet<string>
  /** As that of `node:dns`, with `all`. */
  lookup?: typeof systemLookup
}

const hopsMax = 5
/** Bytes that are read of one page, and bytes that it may take to send them. */
const bytesMax = 2 * 1024 * 1024
const textual = /^(?:text\/[\w.+-]+|application\/(?:json|xml|xhtml\+xml|[\w.-]+\+(?:json|xml)))$/

/** @throws RuntimeError link_refused for what must not be fetched, link_unavailable, unsupported for what is no text; what aborts the signal */
export const guardedFetch = async (link: string, parts: GuardedFetch, signal: AbortSignal): Promise<Fetched> => {
  let url = new URL(link)
  for (let hop = 0; hop <= hopsMax; hop++) {
    checkUrl(url, parts.allow)
    const response = await ask(url, parts, signal)
    const { statusCode = 0, headers } = response
    if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
      response.destroy()
      if (!URL.canParse(headers.location, url.href)) throw unavailable('it redirects to what is no link')
      url = new URL(headers.location, url.href)
      continue
    }
    try {
      return await read(url, response)
    } finally {
      response.destroy()
    }
  }
  throw unavailable(`it redirects more than ${hopsMax} times`)
}

const unavailable = (message: string): RuntimeError => new RuntimeError('link_unavailable', message, { hint: 'look whether the link is right' })

/** One request, on a connection of its own, that says nothing of us but who asks. */
const ask = (url: URL, { allow, lookup = systemLookup }: GuardedFetch, signal: AbortSignal): Promise<IncomingMessage> => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const allowed = allow.has(placeOf(url))
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const outgoing = send(url, {
    agent: false,
    signal,
    headers: {
      accept: 'text/html,application/xhtml+xml,text/plain,text/*;q=0.9,application/json;q=0.8',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'Statecast link reader',
    },
    maxHeaderSize: 32 * 1024,
    lookup: checkedLookup(lookup, allowed),
  })
  outgoing.on('response', resolve)
  // Nobody should be able to change what the name means after it has been looked up; where somebody can, nothing has been sent yet.
  outgoing.on('socket', (socket) =>
    socket.on('connect', () => {
      const { remoteAddress = '' } = socket
      if (!allowed && !isPublicAddress(remoteAddress)) outgoing.destroy(refusedLink('the name leads to an address that is not public'))
    }),
  )
  outgoing.on('error', (error) => reject(error instanceof RuntimeError || signal.aborted ? error : unavailable(`${hostOf(url)}: ${error.message}`)))
  outgoing.end()
  return promise
}

/** Hands over addresses only where all of them are public: of a name that leads inside and outside none is trusted. */
const checkedLookup =
  (lookup: typeof systemLookup, allowed: boolean): LookupFunction =>
  (name, options, done) =>
    lookup(name, { ...options, all: true }, (error, found) => {
      const addresses = error ? [] : found
      const refused = !allowed && addresses.some(({ address }) => isIP(address) === 0 || !isPublicAddress(address))
      const [first] = addresses
      if (error || refused || first === undefined) done(error ?? refusedLink('the name leads to an address that is not public'), '', 0)
      else if (options.all) done(null, addresses)
      else done(null, first.address, first.family)
    })

const unpackers: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

const read = async (url: URL, response: IncomingMessage): Promise<Fetched> => {
  const { statusCode = 0, headers } = response
  if (statusCode < 200 || statusCode >= 300) throw unavailable(`it answers ${statusCode}`)
  const [type = '', ...parameters] = (headers['content-type'] ?? 'text/plain').split(';')
  const mimeType = type.trim().toLowerCase()
  if (!textual.test(mimeType))
    throw new RuntimeError('unsupported', `it is ${mimeType.slice(0, 100)}, which is no text`, {
      hint: 'only texts are read: HTML, plain, JSON, XML',
    })
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  const unpacker = unpackers[encoding]
  if (unpacker === undefined && encoding !== 'identity') throw unavailable(`it is packed as ${encoding.slice(0, 40)}`)
  const { bytes, cut } = await readUpTo(unpacker ? unpacked(response, unpacker()) : response)
  return { url: url.href, mimeType, text: decoderOf(parameters).decode(bytes), cut }
}

/** What does not unpack breaks off, as does what was not sent to its end. */
const unpacked = (packed: Readable, unpacker: Transform): Readable => {
  packed.on('error', (error) => unpacker.destroy(error))
  packed.on('aborted', () => unpacker.destroy(new Error('it was not sent to its end')))
  return packed.pipe(unpacker)
}

/** A piece of packed bytes may become a thousand times as many: each is counted when it is unpacked, and no more are asked for than are wanted. */
const readUpTo = async (stream: Readable): Promise<{ bytes: Buffer; cut: boolean }> => {
  const pieces: Buffer[] = []
  let size = 0
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      pieces.push(piece.subarray(0, bytesMax - size))
      size += piece.length
      if (size > bytesMax) return { bytes: Buffer.concat(pieces), cut: true }
    }
  } catch (error) {
    throw unavailable(`it could not be read: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    stream.destroy()
  }
  return { bytes: Buffer.concat(pieces), cut: false }
}

const decoderOf = (parameters: readonly string[]): InstanceType<typeof TextDecoder> => {
  const charset = parameters.map((one) => one.trim()).find((one) => /^charset=/i.test(one))
  try {
    return new TextDecoder(charset?.slice('charset='.length).replaceAll('"', '') ?? 'utf-8')
  } catch {
    return new TextDecoder()
  }
}
