/** createRuntime(): the one place where everything meets. */
import type { ConnectionOptions } from '@nats-io/transport-node'
import type { AnyStateMachine } from 'xstate'
import { Host } from './actors/host.ts'
import type { HostLimits } from './actors/limits.ts'
import { failPointsAt } from './actors/moments.ts'
import { type MachineOptions, registerMachine } from './actors/registration.ts'
import { type Replayed, replay, type TraceEntry, traceEntries } from './actors/replay.ts'
import { registerSession } from './actors/session.actor.ts'
import { quarantinedError } from './actors/supervision.ts'
import { Transcripts } from './actors/transcript.ts'
import type { Agent } from './contracts/agent.ts'
import { type Environment, noFailPoints } from './contracts/environment.ts'
import { errorBody, RuntimeError } from './contracts/errors.ts'
import type { Commit } from './contracts/journal.ts'
import { type Address, subjects } from './contracts/subjects.ts'
import type { Transport, TransportHealth } from './contracts/transport.ts'
import { systemEnvironment } from './environment.ts'
import { type CustomModel, createModels } from './models/models.ts'
import { Actor } from './runtime/actor.ts'
import { agent as defineAgent } from './runtime/agent.ts'
import { failPointsFrom } from './runtime/fail-points.ts'
import { openFrontDoor } from './runtime/front-door.ts'
import { consumeInbox } from './runtime/inbox.ts'
import { Outputs } from './runtime/outputs.ts'
import { publishOutputs } from './runtime/publish.ts'
import { checkRetention, keepRetention, type Retention } from './runtime/retention.ts'
import type { Services } from './runtime/services.ts'
import { Session } from './runtime/session.ts'
import { readCommits } from './runtime/trace.ts'
import { builtInTools } from './tools/built-in/built-in.ts'
import { createTools } from './tools/registry.ts'
import { openTransport } from './transport/open.ts'

export type RuntimeOptions = {
  /** Who answers; the first one is the default. Without any, an agent `main` with the built-in tools. */
  agents?: readonly Agent[]
  /** XState machines of your own, made durable under their key; with options as `{ machine, … }`. */
  machines?: Record<string, AnyStateMachine | ({ machine: AnyStateMachine } & MachineOptions)>
  /** Models under references of your own: AI SDK models, scripts, or anything that fits the port. */
  models?: Record<string, CustomModel>
  /** `embedded:<folder>`, `memory:`, `nats://host:port` (see docs/reference/nats.md), or an open transport, which then stays yours to close. Default `STATECAST_URL`, else `embedded:./.statecast`. */
  transport?: string | Transport
  /** How to connect to NATS, beyond what its address says: an authenticator, certificates, an inbox prefix. */
  nats?: ConnectionOptions
  /** What is kept; default: everything. */
  retention?: Retention
  /** What to do with actors whose journal was written by a machine of another structure; default `refuse`. */
  onDrift?: 'refuse' | 'force'
  /** Folder that the built-in file tools may read. Default: the working directory. */
  workspace?: string
  environment?: Partial<Environment>
  limits?: Partial<HostLimits>
  /** First token of all subjects. */
  prefix?: string
  /** Kept beside the lock of an embedded folder, for whoever finds it taken. */
  owner?: Record<string, string>
  /** False takes up neither work that was cut off nor stored messages: to look at a folder without setting anything going. Default true. */
  resume?: boolean
}

export type Health = TransportHealth & { ready: boolean; liveActors: number; transport: string }

export type Runtime = Awaited<ReturnType<typeof createRuntime>>

/**
 * Opens the store, takes up work that was cut off, and is ready to talk.
 * @throws RuntimeError locked (another process has the folder), not_durable (a machine), corrupt_at, log_full …
 */
export const createRuntime = async (options: RuntimeOptions = {}) => {
  const system = systemEnvironment()
  const environment: Environment = { ...system, failPoints: failPointsFrom(process.env.STATECAST_FAILPOINTS, system.clock), ...options.environment }
  const workspace = options.workspace ?? process.cwd()
  const names = subjects(options.prefix)
  const agents = agentTable(options.agents ?? [], workspace, environment)
  const models = createModels({ environment, folder: workspace, ...(options.models ? { custom: options.models } : {}) })
  const own = typeof options.transport === 'object' ? undefined : (options.transport ?? process.env.STATECAST_URL ?? 'embedded:./.statecast')
  const transport =
    own === undefined
      ? (options.transport as Transport)
      : await openTransport(own, {
          environment,
          owner: { pid: String(process.pid), ...options.owner },
          ...(options.prefix === undefined ? {} : { prefix: options.prefix }),
          ...(options.nats === undefined ? {} : { connection: options.nats }),
        })
  try {
    const transcripts = new Transcripts(transport.journal)
    const outputs = new Outputs(environment.log)
    let draining: RuntimeError | undefined
    const admit = () => {
      if (draining) throw draining
    }
    const services = { environment, transport, outputs, transcripts, models, agents, admit } as Services
    const agentOf = (name: string) => {
      const found = agents.get(name)
      if (!found)
        throw new RuntimeError('not_found', `no agent is named '${name}'`, { field: 'agent', hint: `there are: ${[...agents.keys()].join(', ')}` })
      return found
    }
    const conversation = registerSession({ environment, models, transcripts, agent: agentOf })
    const registrations = [options.onDrift ? { ...conversation, onDrift: options.onDrift } : conversation, ...ownMachines(options)]
    const publish = publishOutputs(transport.bus, names, environment.log)
    const host = new Host({
      journal: transport.journal,
      environment,
      registrations,
      ...(options.limits ? { limits: options.limits } : {}),
      events: {
        committed: (root, commit, emitted, redo) => {
          // Whoever listens is told in any case; a transcript that cannot be followed is read from the journal when it is needed.
          try {
            transcripts.feed(commit)
          } catch (error) {
            transcripts.forget(root.address)
            environment.log.error({ actor: root.name, error: errorBody(error) }, 'a transcript could not be followed')
          }
          for (const [index, { path, event }] of emitted.entries()) {
            const said = { path, event, seq: commit.seq, index, at: commit.at }
            outputs.say(root.name, said)
            publish(root.address, said)
          }
          // What is said again may be older than what others were told since.
          if (redo && commit.seq !== root.seq - 1) return
          publish.state(root.address, commit)
          if (commit.quarantine) outputs.end(quarantinedError(root.name, commit.quarantine), root.name)
        },
        live: (root, path, event) => {
          outputs.say(root.name, { path, event })
          publish(root.address, { path, event })
        },
        ...(environment.failPoints === noFailPoints ? {} : { moment: (_, moment, commit) => hitAll(environment, moment, commit) }),
        released: (root) => transcripts.forget(root.address),
        forgotten: (address) => transcripts.forget(address),
      },
    })
    services.host = host
    const resumes = options.resume !== false
    if (resumes) await host.start()
    const session = (key: string, which: { agent?: string } = {}) =>
      new Session(services, key, agentOf(which.agent ?? (agents.keys().next().value as string)).agent)
    const stopInbox = resumes ? consumeInbox({ services, names, session }) : async () => undefined

    const stopRetention = resumes && options.retention ? keepRetention({ services }, checkRetention(options.retention)) : () => undefined

    let closed: Promise<void> | undefined
    const close = (): Promise<void> => {
      closed ??= (async () => {
        stopRetention()
        await door?.stop()
        await stopInbox()
        await host.close()
        outputs.end(new RuntimeError('closed', 'this runtime was closed', { retryable: true, hint: 'what was accepted goes on at the next start' }))
        if (own !== undefined) await transport.close()
      })()
      return closed
    }
    const drain = async (timeoutMs = 30_000): Promise<void> => {
      draining ??= new RuntimeError('closed', 'this node is draining', {
        retryable: true,
        hint: 'send the message again to another node, or when this one is back',
      })
      const held = environment.failPoints.hit('K20')
      if (held) await held
      await stopInbox()
      await host.settled(timeoutMs)
      await close()
    }
    const runtime = {
      services,
      subjects: names,
      /** A conversation, by key; it begins with its first message. */
      session,
      /** An actor of one of your own machines. @param input for its creation, if it is not there yet */
      actor: (kind: string, id: string, input?: unknown) => new Actor(services, kind, id, input),
      /** Stores a message for an actor, as a publisher on `statecast.in.<kind>.<id>` does. */
      publish: (subject: string, data: Uint8Array, id?: string) => transport.inbox.put(subject, id ?? environment.ids.next('in'), data),
      async *trace(address: Address, from = 1): AsyncGenerator<TraceEntry> {
        for await (const commit of readCommits({ services }, address, from)) yield* traceEntries(commit)
      },
      replay: (address: Address, to?: number): Promise<Replayed> =>
        replay(transport.journal, address, host.registration(address.kind), to === undefined ? {} : { to }),
      async health(): Promise<Health> {
        const health = await transport.health()
        return {
          ...health,
          ready: health.writable && closed === undefined && draining === undefined,
          liveActors: host.liveCount,
          transport: transport.name,
        }
      },
      /** Takes no new work, lets turns that run end within `timeoutMs`, then closes; what has not ended goes on at the next start. */
      drain,
      /** Closes at once: turns that run are cut off and go on at the next start. Safe twice. */
      close,
      [Symbol.asyncDispose]: close,
    }
    // Whoever shares the bus asks there; a store of one process has its own doors.
    const door = resumes && transport.capabilities.sharedByNodes ? openFrontDoor(runtime, names) : undefined
    return runtime
  } catch (error) {
    if (own !== undefined) await transport.close()
    throw error
  }
}

const ownMachines = ({ machines = {}, onDrift }: RuntimeOptions) =>
  Object.entries(machines).map(([kind, entry]) => {
    if (kind === 'session')
      throw new RuntimeError('conflict', "the kind 'session' is taken", { field: 'machines', hint: 'choose another name for your machine' })
    const { machine, ...rest } = 'machine' in entry ? entry : { machine: entry }
    return registerMachine(kind, machine, { ...(onDrift ? { onDrift } : {}), ...rest })
  })

const agentTable = (given: readonly Agent[], workspace: string, environment: Environment): Services['agents'] => {
  const { clock, failPoints } = environment
  const list = given.length > 0 ? given : [defaultAgent(workspace, environment)]
  const table: Services['agents'] = new Map()
  for (const agent of list) {
    if (table.has(agent.name))
      throw new RuntimeError('conflict', `two agents are named '${agent.name}'`, { field: 'agents', hint: 'rename one of them' })
    table.set(agent.name, { agent, tools: createTools(agent.tools, { clock, failPoints }) })
  }
  return table
}

const defaultAgent = (workspace: string, { clock }: Environment): Agent =>
  defineAgent({
    name: 'main',
    instructions: 'You are a helpful assistant. Use the tools for arithmetic, the time and the files of the workspace.',
    tools: builtInTools({ workspace, clock }),
  })

const hitAll = (environment: Environment, moment: Parameters<typeof failPointsAt>[0], commit: Commit): void | Promise<void> => {
  const held = failPointsAt(moment, commit).flatMap((name) => environment.failPoints.hit(name) ?? [])
  return held.length > 0 ? Promise.all(held).then(() => undefined) : undefined
}
