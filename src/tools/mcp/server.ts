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

export type McpState = 'idle' | 'connecting' | 'ready' | 'backing-off' | 'failed' | 'closed'

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
  /** Begins, if it has not; resolves when it is known what it has, or that it does not answer now. */
  ready(): Promise<void>
  report(): McpReport
  close(): Promise<void>
}

/** Tools of one server that are shown to models: more fit into no context. */
const toolsMax = 500

export type McpServerParts = { environment: Pick<Environment, 'clock' | 'log'>; env: Readonly<Record<string, string | undefined>>; version: string }

export const mcpServer = (server: string, settings: McpSettings, { environment: { clock, log }, env, version }: McpServerParts): McpServer => {
  const names = new Map<string, string>()
  let offered: readonly { name: string; original: string; tool: Tool }[] = []
  let connection: McpConnection | undefined
  let protocol: string | undefined
  /** Some servers of 2025 end at a question that they do not know: the next attempt begins as they want it. */
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
          const open = async (): Promise<void> => {
            mine = await openConnection({
              server,
              settings,
              env,
              version,
              log,
              old,
              signal: gone.signal,
              onChanged: () => sendBack({ type: 'changed' }),
              onLost: (error) => sendBack({ type: 'lost', error }),
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
            if (!('url' in settings) && mine === undefined) old = true
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
    return (typeof leaf === 'string' ? leaf : 'ready') as McpState
  }
  actor.subscribe(() => {
    if (['failed', 'closed'].includes(stateNow())) offered = []
  })
  actor.start()

  /** Resolves when it has come to something, from the moment of the call on. */
  const settled = (signal?: AbortSignal): Promise<void> => {
    if (stateNow() !== 'connecting') return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = (): void => {
      subscription.unsubscribe()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const subscription = actor.subscribe({ next: () => stateNow() !== 'connecting' && done(), complete: done })
    signal?.addEventListener('abort', done, { once: true })
    return promise
  }

  const ready = async (signal?: AbortSignal): Promise<void> => {
    actor.send({ type: 'use' })
    await settled(signal)
  }

  async function connected(signal: AbortSignal): Promise<McpConnection> {
    await ready(signal)
    if (connection === undefined && stateNow() === 'backing-off') {
      // A call waits for one more attempt: the server may only have been started anew.
      await left('backing-off', signal)
      await settled(signal)
    }
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

  const left = (state: McpState, signal: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = (): void => {
      subscription.unsubscribe()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const subscription = actor.subscribe({ next: () => stateNow() !== state && done(), complete: done })
    signal.addEventListener('abort', done, { once: true })
    return promise
  }

  return {
    offered: () => offered,
    ready: () => ready(),
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
