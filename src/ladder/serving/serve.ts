/** `serve()`: executables over HTTP, each run a stream of server-sent events. One function from request to response, for any server. */
import { LadderError } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import { anything, count, either, flag, type KindsOf, oneOf, optionsIn, text } from '../given.ts'
import { type Asked, askedIn } from './asked.ts'
import { type DoorOptions, doorOf } from './door.ts'
import { framesOf } from './frames.ts'
import { Refusal, refusalOf } from './refusal.ts'

export type ServeOptions = DoorOptions & {
  /** What stands before the name of an executable in the path. Default: `/`. */
  path?: string
  /** Default: 1 MiB. */
  bodyBytesMax?: number
  /** Whether a run is cancelled when the client goes, unless a request says otherwise. Default: it goes on. */
  cancelOnClose?: boolean
}
const kinds: KindsOf<ServeOptions> = {
  path: text,
  bodyBytesMax: count(1),
  cancelOnClose: flag,
  token: either(text, oneOf(null)),
  authorise: anything,
}
/** @param environment what the server hands over beside the request, such as `{ incoming }` of `@hono/node-server` */
export type Handler = (request: Request, environment?: unknown) => Promise<Response>

/**
 * Answers `POST <path><name>` with `{ input, runId? }`: frames `run`, one for each event, `result` and `done`. A `runId` that was begun before is attached
 * to, and with `Last-Event-ID` what was missed comes first.
 * @throws LadderError LADDER_CONFIG naming what is wrong
 */
export const serve = (executables: readonly AnyExecutable[], options: ServeOptions): Handler => {
  if (!Array.isArray(executables) || !executables.every((one) => one instanceof Executable))
    throw wrong('serve() has no list of executables', 'write serve([fulfil], { token }), of what workflow(), agent() and the like returned')
  const given = optionsIn<ServeOptions>(options ?? {}, kinds, { who: 'serve()', code: 'LADDER_CONFIG' })
  const { path = '/', bodyBytesMax = 1024 * 1024, cancelOnClose = false } = given
  const door = doorOf(given)
  const byName = new Map(executables.map((one) => [one.name, one]))
  if (byName.size !== executables.length || byName.size === 0)
    throw wrong('two executables are served under one name, or none is', 'give a list of executables with names of their own')
  if (!/^\/(?:[\w.~-]+\/)*$/.test(path))
    throw wrong(`the path '${path.slice(0, 80)}' cannot be served`, "begin and end it with '/', such as '/agents/'")

  const named = ({ url }: Request): AnyExecutable => {
    const { pathname } = new URL(url)
    const found = pathname.startsWith(path) ? byName.get(pathname.slice(path.length)) : undefined
    if (found) return found
    throw new Refusal('not_found', 'there is no such executable', { hint: `POST ${path}<name>` })
  }
  return async (request, environment) => {
    try {
      if (request.method !== 'POST') throw new Refusal('method_not_allowed', 'runs are begun with POST')
      await door(request, environment)
      const executable = named(request)
      return await streamed(executable, await askedIn(request, { bodyBytesMax, cancelOnClose }), request.signal)
    } catch (error) {
      return refusalOf(error).response()
    }
  }
}

/** @throws Refusal, LadderError, RuntimeError: nothing has been begun */
const streamed = async (
  executable: AnyExecutable,
  { input, attaches, after, cancelsOnClose, runId = crypto.randomUUID() }: Asked,
  signal: AbortSignal,
): Promise<Response> => {
  if (attaches) await executable.look(runId)
  // Before it begins: who has the headers misses nothing.
  const heard = executable.hear(runId, after)
  try {
    if (!attaches) await executable.start(input, { runId, signal })
  } catch (error) {
    heard.stop()
    throw error
  }
  return new Response(framesOf({ executable, runId, heard, cancelsOnClose }), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // A proxy that gathers frames would hold them back.
      'x-accel-buffering': 'no',
      'x-run-id': encodeURIComponent(runId),
    },
  })
}

const wrong = (message: string, hint: string): LadderError => new LadderError('LADDER_CONFIG', message, { hint })
