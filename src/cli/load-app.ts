/** The app file: agents, machines and models of the author, in TypeScript, JavaScript or JSON. */

import { existsSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type ChatOptions, chat } from '../chat/index.ts'
import { withoutMark } from '../contracts/byte-order-mark.ts'
import { definedOf } from '../contracts/defined.ts'
import { errorBody, isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { Tool } from '../contracts/tool.ts'
import { type AgentDefinition, agent, defineApp, systemClock } from '../runtime/index.ts'
import type { RuntimeOptions } from '../runtime.ts'
import { benchTools } from '../tools/index.ts'
import { appFile } from './app-file.ts'
import { shellWord } from './output.ts'
import { listen, surroundings } from './surroundings.ts'

/** @param file of the option `by`; without it the file of the working directory, if there is one @throws RuntimeError bad_request */
export const loadApp = async (file: string | undefined, by: 'app' | 'against' = 'app'): Promise<RuntimeOptions> => {
  const path = appFile(file)
  if (path === undefined) return {}
  if (!existsSync(path)) throw unusable(path, 'does not exist', `give the path of a file with --${by}`, { by })
  try {
    const app = defineApp(path.endsWith('.json') ? fromJson(path) : await settled(path, by, fromModule(path)))
    const store = app.config?.session?.store
    return app.transport === undefined && store !== undefined ? { ...app, transport: store } : app
  } catch (cause) {
    if (isRuntimeError(cause)) throw new RuntimeError(cause.code, `${path}: ${cause.message}`, { ...errorBody(cause), cause })
    const place = placeIn(cause)
    const why = `cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}${place === undefined ? '' : ` (${place})`}`
    throw unusable(path, why, loadingHint(path, cause, place), { by, cause })
  }
}

/** With nothing left to do, Node would end this process without a word of ours. */
const settled = async <Value>(path: string, by: 'app' | 'against', loading: Promise<Value>): Promise<Value> => {
  const { promise: idle, reject } = Promise.withResolvers<never>()
  const hint = 'look for an await outside of functions that nothing ever settles'
  const tell = () => reject(unusable(path, 'never finishes loading', hint, { by }))
  const stop = listen('beforeExit', tell)
  try {
    return await Promise.race([loading, idle])
  } finally {
    stop()
  }
}

const ownCode = ['..', '../../bin/'].map((folder) => new URL(folder, import.meta.url).href)

/** Where in the code of its author an error is from, as far as Node says that: `FILE:LINE`. */
const placeIn = (cause: unknown): string | undefined => {
  if (!(cause instanceof Error)) return undefined
  for (const [, url = '', line] of (cause.stack ?? '').matchAll(/(file:\/\/[^\s:()]+):(\d+)/g))
    if (!ownCode.some((folder) => url.startsWith(folder)) && !url.includes('/node_modules/')) return `${fileURLToPath(url)}:${line}`
  return undefined
}

const fromModule = async (path: string): Promise<RuntimeOptions> => {
  useThisCopy()
  const exported = (await import(pathToFileURL(path).href)) as { default?: RuntimeOptions | Promise<RuntimeOptions> }
  if (exported.default === undefined) throw unusable(path, 'has no default export', 'write export default defineApp({ … })')
  return exported.default
}

/** The causes that people meet, by the words that Node has for them. */
const loadingHint = (path: string, cause: unknown, place: string | undefined): string => {
  const words = String(cause)
  const missing = /Cannot find package '([^']+)'/.exec(words)?.[1]
  if (missing) return `npm install ${missing}`
  if (/import statement outside a module|Unexpected token 'export'/.test(words))
    return 'name the file .mts or .mjs, or write "type": "module" into its package.json'
  if (place !== undefined) return `look at ${place}`
  if (!(cause instanceof Error)) return 'throw an Error, which says where it is from'
  const [, importer] = cause.message.split(' imported from ')
  if (importer !== undefined) return `look at what ${importer} imports`
  if (path.endsWith('.json')) return 'write it as JSON: double quotes, no comments, no comma behind the last'
  // Of these Node tells the line to nobody but the person who runs the file; with one in it nothing runs.
  return cause instanceof SyntaxError ? `node ${shellWord(path)} shows the line` : 'STATECAST_DEBUG=1 shows where'
}

type JsonAgent = Omit<AgentDefinition, 'tools'> & { tools?: string[] }

type JsonApp = Omit<RuntimeOptions, 'agents' | 'extensions'> & { agents?: JsonAgent[]; extensions?: string[]; chat?: ChatOptions | false }

/**
 * Agents in JSON have the tools that only read, those of their `bench`, or the ones of ours that they name under `tools`; `chat` holds what `chat()` takes, as
 * far as it is JSON; `extensions` are paths from the folder of the file, beside chat, unless that is `false`.
 */
const fromJson = (path: string): RuntimeOptions => {
  const { agents, chat: withPeople, extensions: named, ...rest } = JSON.parse(withoutMark(readFileSync(path, 'utf8'))) as JsonApp
  const parts = { workspace: rest.workspace ?? surroundings().cwd(), clock: systemClock }
  return {
    ...rest,
    ...definedOf({
      extensions:
        named === undefined && withPeople === undefined
          ? undefined
          : [...(withPeople === false ? [] : [chat(withPeople)]), ...modulesIn(path, named)],
      agents: Array.isArray(agents)
        ? agents.map(({ tools, bench, ...one }) =>
            // Checked first: what it says of a shell is used below.
            tools === undefined
              ? agent({ ...one, bench: bench ?? {} })
              : agent({ ...one, tools: namedTools(tools, agent({ ...one, ...definedOf({ bench }) }).bench, parts) }),
          )
        : undefined,
    }),
  }
}

/** What is no list of texts is refused where all options are checked. */
const modulesIn = (path: string, named: unknown = []): string[] =>
  Array.isArray(named)
    ? named.map((one) => (typeof one === 'string' && one.startsWith('.') ? resolve(dirname(path), one) : one))
    : (named as string[])
/** Naming a tool asks for it; `bench` then says how it works. @throws RuntimeError bad_request for one that there is not, or that the bench forbids */
const namedTools = (names: readonly string[], bench: AgentDefinition['bench'], parts: Parameters<typeof benchTools>[1]): Tool[] => {
  const { tools, absent } = benchTools({ files: 'rw', shell: true, ...bench }, parts)
  return names.map((name) => {
    const found = tools.find((tool) => tool.name === name)
    if (found) return found
    const why = absent.find((one) => one.name === name)?.why
    throw new RuntimeError('bad_request', `there is no built-in tool '${String(name).slice(0, 80)}'${why === undefined ? '' : `: ${why}`}`, {
      field: 'tools',
      hint: `there are: ${tools.map((tool) => tool.name).join(', ')}; tools of your own need an app file in TypeScript`,
    })
  })
}

let hooked = false
/** `statecast` in an app file is the copy that runs it, wherever the file lies: two copies would not know each other's classes. */
const useThisCopy = (): void => {
  if (hooked) return
  hooked = true
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const copies: Record<string, string> = {
    statecast: new URL(`../index.${ending}`, import.meta.url).href,
    'statecast/chat': new URL(`../chat.${ending}`, import.meta.url).href,
    'statecast/testing': new URL(`../testing/index.${ending}`, import.meta.url).href,
  }
  registerHooks({
    resolve: (specifier, context, next) => {
      const url = Object.hasOwn(copies, specifier) ? copies[specifier] : undefined
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true }
    },
  })
}

type Unusable = { by?: 'app' | 'against'; cause?: unknown }

const unusable = (path: string, why: string, hint: string, { by = 'app', cause }: Unusable = {}): RuntimeError =>
  new RuntimeError('bad_request', `the app file ${path} ${why}`, { field: by, hint, cause })
