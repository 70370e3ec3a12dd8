/** The effects of the chart of one MCP server: its connection, and the tools that it has named last. */
import { createActor, fromCallback, fromPromise } from 'xstate'
import { actorClock, type Environment } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { Tool } from '../../contracts/tool.ts'
import { type ListedTool, type McpConnection, openConnection } from './connection.ts'
import { toolOf } from './listed-tool.ts'
import { type McpServerEvent, mcpServerMachine } from './mcp-server.machine.ts'
import { nameTools } from './names.rules.ts'
import type { McpSettings } from './options.ts'

type McpState = 'idle' | 'connecting' | 'ready' | 'backing-off' | 'failed' | 'closed'

/** How one server is. @property tools how many it has @property protocol what both speak, once it has answered @property error why it has none */
export type McpReport = {
  server: string
  state: McpState
  tools: number
  protocol?: string
  error?: { code: string; message: string; hint?: string }
}

export type McpServer = {
  /** By what models call them, in that order; `original` is what the server calls it. */
  offered(): readonly { name: string; original: string; tool: Tool }[]
  /** Begins, if it has not; resolves when it is known what it has. Of one that has failed nobody waits to see whether it does again. */
  ready(): Promise<void>
  /** The same, and waits also for one that has failed and is tried again right now. */
  look(): Promise<void>
  report(): McpReport
  close(): Promise<void>
}

/** Tools of one server that are shown to models: more fit into no context. */
const toolsMax = 500
/** Attempts in a row that have failed, from which on nobody waits for the next one. */
const impatientAt = 2

export type McpServerParts = {
  environment: Pick<Environment, 'clock' | 'log'>
  env: Readonly<Record<string, string | undefined>>
  version: string
  /** Sends the requests to servers at an address, such as through a proxy. Default: the `fetch` of Node. */
  fetch?: typeof globalThis.fetch
}

export const mcpServer = (
  server: string,
  settings: McpSettings,
  { environment: { clock, log }, env, version, fetch = globalThis.fetch }: McpServerParts,
): McpServer => {
  const names = new Map<string, string>()
  let offered: readonly { name: string; original: string; tool: Tool }[] = []
  let connection: McpConnection | undefined
  let protocol: string | undefined
  /** It has answered to the handshake of 2025, after it had ended without. */
  let old = false
  const closing = new Set<Promise<void>>()

  const take = (listed: readonly ListedTool[], more: boolean): void => {
    const unique = new Map(listed.map((one) => [one.name, one]))
    nameTools(server, [...unique.keys()], names)
    const made = [...unique.values()].flatMap((one) => {
      const name = names.get(one.name) as string
      const result = toolOf(server, name, one, settings, connected)
      if ('tool' in result) return [{ name, original: one.name, tool: result.tool }]
      log.warn({ server, tool: one.name.slice(0, 200), why: result.problem }, 'a tool of an MCP server cannot be used')
      return []
    })
    offered = made.sort((a, b) => (a.name < b.name ? -1 : 1))
    if (more) log.warn({ server, toolsMax }, 'an MCP server has more tools than a model can be shown: the others are left out')
    log.info({ server, tools: offered.length, protocol }, 'an MCP server has named its tools')
  }

  const actor = createActor(
    mcpServerMachine.provide({
      actors: {
        link: fromCallback<McpServerEvent>(({ sendBack }) => {
          const gone = new AbortController()
          let mine: McpConnection | undefined
          const connect = (asOld: boolean): Promise<McpConnection> =>
            openConnection({
              server,
              settings,
              env,
              version,
              log,
              fetch,
              old: asOld,
              signal: gone.signal,
              onChanged: () => sendBack({ type: 'changed' }),
              onLost: (error) => sendBack({ type: 'lost', error }),
            })
          const open = async (): Promise<void> => {
            mine = await connect(old).catch(async (error: unknown) => {
              // Some programs of 2025 end at a question that they do not know.
              if ('url' in settings || old || gone.signal.aborted || !errorBody(error).retryable) throw error
              const second = await connect(true)
              old = true
              return second
            })
            if (gone.signal.aborted) return mine.close()
            protocol = mine.protocol
            const { tools, more } = await mine.list(gone.signal, toolsMax)
            if (gone.signal.aborted) return
            connection = mine
            take(tools, more)
            sendBack({ type: 'opened' })
          }
          const opening = open().catch((error: unknown) => {
            if (gone.signal.aborted) return
            log.warn({ server, error: errorBody(error) }, 'an MCP server is not there')
            sendBack({ type: 'lost', error })
          })
          return () => {
            gone.abort()
            if (connection === mine) connection = undefined
            const ending = opening.then(() => mine?.close()).finally(() => closing.delete(ending))
            closing.add(ending)
          }
        }),
        list: fromPromise(async ({ signal }) => {
          try {
            const { tools, more } = await (connection as McpConnection).list(signal, toolsMax)
            take(tools, more)
          } catch (error) {
            if (!signal.aborted) log.warn({ server, error: errorBody(error) }, 'the tools of an MCP server could not be read again')
            throw error
          }
        }),
      },
    }),
    { input: { server, connectMs: settings.connectMs }, clock: actorClock(clock) },
  )

  const stateNow = (): McpState => {
    const { value } = actor.getSnapshot()
    const leaf = typeof value === 'string' ? value : Object.values(value)[0]
    return typeof leaf === 'string' ? leaf : 'ready'
  }
  actor.subscribe(() => {
    if (['failed', 'closed'].includes(stateNow())) offered = []
  })
  actor.start()

  /** Resolves when it is in another state, which may be now. */
  const left = (state: McpState, signal?: AbortSignal): Promise<void> => {
    if (stateNow() !== state) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = (): void => {
      subscription.unsubscribe()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const subscription = actor.subscribe({ next: () => stateNow() !== state && done(), complete: done })
    signal?.addEventListener('abort', done, { once: true })
    return promise
  }

  const begun = async (signal?: AbortSignal): Promise<void> => {
    actor.send({ type: 'use' })
    await left('connecting', signal)
  }

  /** Who wants a tool of it waits for the next attempt, unless several have failed: it may only have to be started anew. */
  const again = async (signal?: AbortSignal): Promise<void> => {
    await begun(signal)
    if (stateNow() !== 'backing-off' || actor.getSnapshot().context.attempt >= impatientAt) return
    await left('backing-off', signal)
    await left('connecting', signal)
  }

  async function connected(signal: AbortSignal): Promise<McpConnection> {
    await again(signal)
    signal.throwIfAborted()
    if (connection !== undefined) return connection
    const { error } = actor.getSnapshot().context
    throw new RuntimeError('tool_failed', `the MCP server '${server}' is not there: ${errorBody(error).message}`, {
      cause: error,
      retryable: true,
      hint: errorBody(error).hint ?? 'nothing has been done; ask again when it is there',
      data: { server, state: stateNow() },
    })
  }

  return {
    offered: () => offered,
    ready: () => (actor.getSnapshot().context.error === undefined ? begun() : Promise.resolve(actor.send({ type: 'use' }))),
    look: () => again(),
    report() {
      const state = stateNow()
      const { error } = actor.getSnapshot().context
      const { code, message, hint } = error === undefined ? {} : errorBody(error)
      return {
        server,
        state,
        tools: offered.length,
        ...(protocol === undefined ? {} : { protocol }),
        ...(code === undefined || message === undefined ? {} : { error: { code, message, ...(hint === undefined ? {} : { hint }) } }),
      }
    },
    async close() {
      actor.send({ type: 'close' })
      await Promise.all(closing)
    },
  }
}
