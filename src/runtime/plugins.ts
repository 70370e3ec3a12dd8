/** Extensions that are named by the path of a module: each module is loaded once in a process, whoever asks for it and however often. */
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isRuntimeError, messageOf, RuntimeError } from '../contracts/errors.ts'
import type { Extension } from './extension.ts'

/** @property module its path, if it was named by one */
export type Plugin = { extension: Extension; module?: string }

/** What a module has as its default, by its address; a load that failed is not kept. */
const loads = new Map<string, Promise<unknown>>()
let reloads = 0

/** @param folder that paths begin in; default: the working directory of the process @throws RuntimeError bad_request */
export const loadPlugins = async (given: readonly (Extension | string)[], folder: string = process.cwd()): Promise<Plugin[]> => {
  const paths = given.map((one) => (typeof one === 'string' ? pathOf(one, folder) : undefined))
  const twice = paths.find((path, at) => path !== undefined && paths.indexOf(path) !== at)
  if (twice !== undefined)
    throw new RuntimeError('conflict', `the extension ${twice} is named twice`, { field: 'extensions', hint: 'leave one of them out' })
  return Promise.all(
    given.map(async (one, at) => {
      const module = paths[at]
      return module === undefined ? { extension: one as Extension } : { extension: await extensionIn(module), module }
    }),
  )
}

/** The module as it is now on disk. @throws RuntimeError bad_request; then the old one stays */
export const loadAnew = (module: string): Promise<Extension> => {
  const url = pathToFileURL(module).href
  // An address that was loaded stays loaded; another query is another module to Node.
  return extensionIn(module, import(`${url}?reload=${++reloads}`).then(defaultOf))
}

const pathOf = (named: string, folder: string): string => {
  if (named.startsWith('file:')) return fileURLToPath(named)
  if (isAbsolute(named) || /^\.{1,2}[/\\]/.test(named)) return resolve(folder, named)
  throw new RuntimeError('bad_request', `'${named.slice(0, 200)}' is not the path of a module`, {
    field: 'extensions',
    hint: 'begin it with ./ or /; a package is imported in an app file in TypeScript',
  })
}

const once = (module: string): Promise<unknown> => {
  const url = pathToFileURL(module).href
  const known = loads.get(url)
  if (known !== undefined) return known
  const load = import(url).then(defaultOf)
  loads.set(url, load)
  load.catch(() => loads.delete(url))
  return load
}

const defaultOf = (module: { default?: unknown }): unknown => module.default

const extensionIn = async (module: string, load = once(module)): Promise<Extension> => {
  const refused = (why: string, cause?: unknown): RuntimeError =>
    new RuntimeError('bad_request', `the extension ${module} ${why}`, {
      field: 'extensions',
      hint: "its default export is { name, start, … }, or a function that returns it: see docs/guides/app.md, 'Extensions'",
      cause,
    })
  try {
    const exported = await load
    const extension: unknown = typeof exported === 'function' ? await (exported as () => unknown)() : exported
    if (typeof extension === 'object' && extension !== null) return extension as Extension
  } catch (cause) {
    throw isRuntimeError(cause) ? cause : refused(`cannot be loaded: ${messageOf(cause)}`, cause)
  }
  throw refused('exports no extension')
}
