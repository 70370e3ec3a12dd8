/** The contract of a system that stands on top of sessions and actors, and is brought along by `createRuntime({ extensions })`. */
import { z } from 'zod'
import type { Registration } from '../actors/index.ts'
import type { Agent } from '../contracts/agent.ts'
import type { IncomingMessage } from '../contracts/desk.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { FindReferences } from '../contracts/find-references.ts'
import { parseInput } from '../contracts/parse.ts'
import type { ShownText } from '../contracts/shown.ts'
import type { BeforeTool } from '../contracts/tool-gate.ts'
import type { Understanding } from '../contracts/understanding.ts'
import type { registerSession } from '../machines/index.ts'
import { checkedHooks, type EnvironmentManager } from '../tools/index.ts'
import { CommandShape, checkCommandName, type ExtensionCommand } from './extension-command.ts'
import { callable, knownOnly } from './extension-schemas.ts'
import { type Hooks, observed } from './hooks.ts'
import type { Machines } from './interface.ts'
import type { SharedParts } from './parts.ts'
import type { MessageCommand, Receive, Receiver } from './receive.ts'
import type { RuntimeParts } from './runtime-parts.ts'
import type { Session } from './session.ts'

/** What an extension finds before any actor is there. */
export type ExtensionParts = SharedParts & {
  /** Folder that its files are in. */
  workspace: string
  /** Whether a path, relative to the workspace, leads to a file that tools may read. */
  isWorkspaceFile(path: string): Promise<boolean>
  session(key: string, which?: { agent?: string | undefined }): Session
  /** The event of a message as it is without any extension: what `receive` of one adds to. @throws RuntimeError unsupported for a message with an `origin` */
  receive(message: MessageCommand, by: Receiver): IncomingMessage
}

/** Alone or with options, as `{ machine, … }`. */
type MachineEntry = Machines[string]

/** What stands in front of the turns of a session, and behind them. */
export type SessionSockets = NonNullable<Parameters<typeof registerSession>[2]> & {
  /** Makes the event of a message; without one, a message comes from code and has no origin. */
  receive?: Receive
  /** What people see of what a model says. Default: all of it. */
  shown?: ShownText
  /** Looks at links and media of messages before a model is asked. */
  understanding?: Understanding
  /** Finds what the directives of an answer refer to, for extensions whose publisher reads directives. */
  references?: FindReferences
}

/** One is of one runtime at a time: it is bound to the parts of the runtime that starts it. */
export type Extension = {
  /** One word, for errors and the log. */
  readonly name: string
  /** Machines that it brings, by the kind of their actors, as `createRuntime({ machines })` takes them; or what makes one of the parts of the runtime. */
  machines?: Readonly<Record<string, MachineEntry | ((parts: ExtensionParts) => MachineEntry | Registration)>>
  /** Agents that it brings, beside those of the app. */
  agents?: readonly Agent[]
  /** Asked before each tool call of any agent, behind those of the agent where they have the same priority. */
  beforeTool?: readonly (BeforeTool | BeforeTool['check'])[]
  /** Environments of packages by name, which agents name as theirs. */
  environments?: Readonly<Record<string, EnvironmentManager>>
  /** Commands by name, such as `ladder.execute`: every door of the node serves them, over HTTP as `POST /rpc/<name>`. @see command */
  commands?: Readonly<Record<string, ExtensionCommand>>
  /** One extension at most has sockets of the session. */
  session?(parts: ExtensionParts): SessionSockets
  /** What it observes, and what it changes. */
  hooks?: Hooks
  /**
   * Begins its own work when actors run, on a node that takes up work, within 30 s. Messages that were published wait until all extensions have started.
   * @returns the stopper, called before the actors are closed and waited for 10 s @throws what keeps the runtime from starting
   */
  start?(parts: RuntimeParts): Promise<() => void | Promise<void>>
}

const Shape = knownOnly({
  name: z.string().min(1),
  machines: z.record(z.string(), z.unknown()).optional(),
  agents: z.array(z.unknown()).optional(),
  beforeTool: z.array(z.unknown()).optional(),
  environments: z
    .record(z.string().min(1).max(64), knownOnly({ activate: callable, status: callable.optional(), describe: callable.optional() }))
    .optional(),
  commands: z.record(z.string(), CommandShape).optional(),
  session: callable.optional(),
  start: callable.optional(),
  hooks: knownOnly({
    priority: z.number().optional(),
    observe: knownOnly(Object.fromEntries(observed.map((name) => [name, callable.optional()]))).optional(),
    beforeAgent: callable.optional(),
    toolResult: callable.optional(),
    outgoing: callable.optional(),
  }).optional(),
})

/** @param taken kinds of actors that are the runtime's own @throws RuntimeError bad_request, conflict */
export const checkExtensions = (extensions: readonly Extension[], taken: readonly string[]): readonly Extension[] => {
  const seen = { names: new Set<string>(), kinds: new Set<string>(), commands: new Set<string>() }
  const once = (set: Set<string>, value: string, what: string): void => {
    if (set.has(value)) throw conflict(`two extensions ${what} '${value}'`, 'leave one of them out; what it was given may stand in the other one')
    set.add(value)
  }
  for (const extension of extensions) {
    const { name } = extension
    once(seen.names, name, 'are named')
    const schema = z.object({ extensions: z.object({ [name]: Shape }) })
    parseInput(
      schema,
      { extensions: { [name]: extension } },
      'an extension is { name, machines, agents, commands, environments, session, start }: see docs/guides/app.md',
    )
    for (const command of Object.keys(extension.commands ?? {})) {
      checkCommandName(name, command)
      once(seen.commands, command, 'bring the command')
    }
    for (const kind of Object.keys(extension.machines ?? {})) {
      if (taken.includes(kind)) throw conflict(`the extension '${name}' brings actors of the kind '${kind}', which is taken`, 'choose another kind')
      once(seen.kinds, kind, 'bring actors of the kind')
    }
  }
  const sockets = extensions.filter(({ session }) => session !== undefined)
  if (sockets.length > 1) throw conflict(`${sockets.map(({ name }) => name).join(' and ')} both stand in front of sessions`)
  return extensions
}

const conflict = (message: string, hint = 'leave one of them out'): RuntimeError =>
  new RuntimeError('conflict', message, { field: 'extensions', hint })

/** What extensions ask before tool calls. @throws RuntimeError bad_request */
export const gatesOf = (extensions: readonly Extension[]): BeforeTool[] =>
  extensions.flatMap(({ name, beforeTool }) => checkedHooks(beforeTool, `extensions.${name}.beforeTool`))
