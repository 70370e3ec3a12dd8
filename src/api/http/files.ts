/** Files over HTTP: their way in beside the frames of a socket, and the only way in which a browser gets one back. */
import { type Context, Hono } from 'hono'
import type { Access } from '../../contracts/access.ts'
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { FileRef } from '../../contracts/file.ts'
import { fileBytesMax, smallerFile } from '../../contracts/file-limits.ts'
import { type Runtime, sniff } from '../../runtime/index.ts'
import { bodyOf, bytesOf, largeBytesMax } from './body.ts'
import type { Env } from './env.ts'

type FileDoor = {
  runtime: () => Runtime
  /** @throws RuntimeError closed where no new work is taken */
  admit: () => void
  /** What its token allows a caller; undefined for everything. */
  accessOf: (context: Context<Env>) => Access | undefined
}

/** What a browser may show by itself; all else is saved. */
const shownTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

export const fileRoutes = ({ runtime, admit, accessOf }: FileDoor): Hono<Env> => {
  const routes = new Hono<Env>()
  routes.post('/files', async (context) => {
    admit()
    const kept = await runtime().command('files.put', await givenIn(context), accessOf(context))
    return context.json(kept, 200, { 'cache-control': 'no-store' })
  })
  const give = async (context: Context<Env>, sessionKey: string, id: string): Promise<Response> => {
    const { content, ...file } = await runtime().command<FileRef & { content: string }>('files.get', { sessionKey, id }, accessOf(context))
    return responseOf(file, Buffer.from(content, 'base64'))
  }
  routes.get('/sessions/:key/files/:id', (context) => give(context, context.req.param('key'), context.req.param('id')))
  // For the keys `.` and `..`, which are no names in a path.
  routes.get('/files/:id', (context) => {
    const sessionKey = context.req.query('sessionKey')
    if (sessionKey === undefined)
      throw new RuntimeError('bad_request', 'a file is read as one of a session', { field: 'sessionKey', hint: 'GET /sessions/<key>/files/<id>' })
    return give(context, sessionKey, context.req.param('id'))
  })
  return routes
}

/** With a name in the address the body is the file, whatever its type; else a JSON body is what `files.put` takes. */
const givenIn = async ({ req }: Context<Env>): Promise<unknown> => {
  const mimeType = req.header('content-type')
  // What curl says where its user has said nothing; a form would have fields.
  const claim = mimeType?.startsWith('application/x-www-form-urlencoded') ? undefined : mimeType?.slice(0, 200)
  const fileName = req.query('name')
  const sessionKey = req.query('sessionKey')
  if (fileName === undefined && mimeType?.startsWith('application/json')) return bodyOf(req.raw, largeBytesMax)
  const bytes = await bytesOf(req.raw, fileBytesMax, { noun: 'a file', hint: smallerFile })
  return { content: Buffer.from(bytes).toString('base64'), ...definedOf({ mimeType: claim, fileName, sessionKey }) }
}

/** Nothing in it runs, whatever it is: it has no origin of ours, is not guessed at, and only raster images are shown in place. */
const responseOf = ({ fileName, mimeType }: FileRef, bytes: Uint8Array<ArrayBuffer>): Response => {
  const type = sniff(bytes, mimeType) ?? 'application/octet-stream'
  const isText = type !== 'application/pdf' && !type.startsWith('image/') && type !== 'application/octet-stream'
  return new Response(bytes, {
    headers: {
      'content-type': isText ? 'text/plain; charset=utf-8' : type,
      'content-disposition': `${shownTypes.has(type) ? 'inline' : 'attachment'}; ${nameParameters(fileName)}`,
      'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    },
  })
}

/** RFC 6266: a plain name for those who know no other, and the name itself. */
const nameParameters = (fileName: string): string => {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const whole = encodeURIComponent(fileName).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  return `filename="${plain}"; filename*=UTF-8''${whole}`
}
