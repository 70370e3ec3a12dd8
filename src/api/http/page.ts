/** The pages: files that `npm run build:web` has made, the same for everybody. What they show comes over the socket, with the token of who looks. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono, type MiddlewareHandler } from 'hono'
import { RuntimeError } from '../../contracts/errors.ts'

/** In a clone and in the package alike. */
const built = join(import.meta.dirname, '../../../dist/web')

/** Nothing from elsewhere, nothing written into the page, nobody around it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Looked at once: a page that is built later is there after the next start. */
const filesOf = (page: string, at = ''): MiddlewareHandler => {
  const root = join(built, page)
  if (!existsSync(root))
    return () => {
      throw new RuntimeError('not_found', 'this page has not been built', { hint: 'run npm run build:web, then start this node anew' })
    }
  return serveStatic({
    root,
    rewriteRequestPath: (path) => path.slice(at.length) || '/',
    onFound: (path, context) => {
      context.header('content-security-policy', policy)
      context.header('x-content-type-options', 'nosniff')
      context.header('referrer-policy', 'no-referrer')
      // Names that the build has made change with what is in them; the others are always asked for.
      context.header('cache-control', /-[\w-]{8}\.\w+$/.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache')
    },
  })
}

export const pageRoutes = (): Hono => {
  const chat = filesOf('chat')
  const inspector = filesOf('inspector', '/inspector')
  // Who asks for what is not there is told so, and not for a token.
  const missing = () => {
    throw new RuntimeError('not_found', 'the page has no such file', { hint: 'load the page anew: it may be of another version' })
  }
  return new Hono()
    .get('/', chat)
    .get('/assets/*', chat)
    .get('/assets/*', missing)
    .get('/inspector', inspector)
    .get('/inspector/', inspector)
    .get('/inspector/assets/*', inspector)
    .get('/inspector/assets/*', missing)
}
