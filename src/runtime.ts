/** createRuntime(): the one place where everything meets. */
import type { ConnectionOptions } from '@nats-io/transport-node'
import { Host } from './actors/host.ts'
import type { HostLimits } from './actors/limits.ts'
import { replay, traceEntries } from './actors/replay.ts'
import { registerSession } from './actors/session.actor.ts'
import { Transcripts } from './actors/transcript.ts'
import { turnWorks } from './actors/turn.actor.ts'
import type { Agent } from './contracts/agent.ts'
import type { Channel } from './contracts/channel.ts'
import { type Environment, noFailPoints } from './contracts/environment.ts'
import { RuntimeError } from './contracts/errors.ts'
import { type Role, roles } from './contracts/placement.ts'
import { subjects } from './contracts/subjects.ts'
import type { Transport } from './contracts/transport.ts'
import { logWith, systemEnvironment } from './environment.ts'
import type { Credentials } from './models/credentials.ts'
import { type CustomModel, createModels } from './models/models.ts'
import type { SendRule } from './rules/inbound.ts'
import { Actor } from './runtime/actor.ts'
import { type AgentProtocolOptions, checkAgentProtocol, openAgentProtocol } from './runtime/agent-protocol.ts'
import { agentNamed, agentTable } from './runtime/agent-table.ts'
import { defineApp } from './runtime/app.ts'
import { channelTable } from './runtime/channel-table.ts'
import { type Cluster, openCluster } from './runtime/cluster.ts'
import { registerProvider, sharedCooldowns } from './runtime/cooldowns.ts'
import { type CheckDeterminism, defaultCheck, secondLook } from './runtime/determinism.ts'
import { localDirectory } from './runtime/directory.ts'
import { failPointsFrom, hitAll } from './runtime/fail-points.ts'
import { openFrontDoor } from './runtime/front-door.ts'
import { registerHeartbeat, startHeartbeats } from './runtime/heartbeat.ts'
import { hostEvents } from './runtime/host-events.ts'
import { consumeInbox } from './runtime/inbox.ts'
import type { Machines, Runtime } from './runtime/interface.ts'
import { Outputs } from './runtime/outputs.ts'
import { ownMachines } from './runtime/own-machines.ts'
import { othersOn, publishOutputs } from './runtime/publish.ts'
import { checkRetention, keepRetention, type Retention } from './runtime/retention.ts'
import type { Services } from './runtime/services.ts'
import { Session } from './runtime/session.ts'
import { readCommits } from './runtime/trace.ts'
import { turnPlace } from './runtime/turn-place.ts'
import { checkWorkspace } from './runtime/workspace.ts'
import { serviceDirectory } from './tools/services/directory.ts'
import { openTransport } from './transport/open.ts'
import { variables } from './variables.ts'
import { version } from './version.ts'

export type { Health, Machines, Runtime } from './runtime/interface.ts'

export type RuntimeOptions<Registered extends Machines = Machines> = {
  /** Who answers; the first one is the default. Without any, an agent `main` with the built-in tools. */
  agents?: readonly Agent[]
  /** Where messages come from and answers go to, besides our own `web` and `stdio`. */
  channels?: readonly Channel[]
  /** Models that answer where the one of an agent fails that lists no `fallbacks` of its own, in this order. */
  fallbacks?: readonly string[]
  /** Where answers may go: a rule that denies wins over one that allows. Default: everywhere. */
  sendPolicy?: readonly SendRule[]
  /** How many turns run at once on this node, by lane; agents name theirs, `main` otherwise. Default: no limit. */
  lanes?: Record<string, number>
  /** XState machines of your own, made durable under their key; with options as `{ machine, … }`. */
  machines?: Registered
  /** Credentials by provider, where there are several: one that fails rests while another one is used. Default: the variables of the environment. */
  credentials?: Credentials
  /** Models under references of your own: AI SDK models, scripts, or anything that fits the port. */
  models?: Record<string, CustomModel>
  /** `embedded:<folder>`, `memory:`, `nats://host:port` (see docs/reference/nats.md), or an open transport, which then stays yours to close. Default `STATECAST_URL`, else `embedded:./.statecast`. */
  transport?: string | Transport
  /** How to connect to NATS, beyond what its address says: an authenticator, certificates, an inbox prefix. */
  nats?: ConnectionOptions
  /** Copies of everything on that many servers of a NATS cluster, 1 to 5; counts where the streams are made. Default: 3 on a cluster of three or more, else 1. */
  replicas?: number
  /** What is kept; default: everything. */
  retention?: Retention
  /** What to do with actors whose journal was written by a machine of another structure; default `refuse`. */
  onDrift?: 'refuse' | 'force'
  /**
   * Applies inputs of your machines twice, to find functions that read a clock or chance before a crash does: a `sample` is looked at and logged, `always`
   * refuses such an input with `not_deterministic`. Default: `sample`, and `off` where `NODE_ENV` is `production`. Costs: docs/guides/app.md.
   */
  checkDeterminism?: CheckDeterminism
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
  /** What this node does among those that share a NATS; default: everything. */
  roles?: readonly Role[]
  /** Offers every agent to clients of the Synadia Agent Protocol, see docs/reference/agent-protocol.md. Default: none. */
  agentProtocol?: AgentProtocolOptions
  /**
   * Where models and tools are called: `beside` the session, on its own node if that has the role, or `distributed` over all nodes that have it.
   * Default `beside`.
   */
  placement?: 'beside' | 'distributed'
}

/**
 * Opens the store, takes up work that was cut off, and is ready to talk.
 * @throws RuntimeError bad_request (an option), locked (another process has the folder), not_durable (a machine), corrupt_at, log_full …
 */
export const createRuntime = async <Registered extends Machines = Machines>(
  options: RuntimeOptions<Registered> = {},
): Promise<Runtime<Registered>> => {
  defineApp(options)
  const retention = options.retention && checkRetention(options.retention)
  const system = systemEnvironment()
  const given: Environment = { ...system, failPoints: failPointsFrom(process.env.STATECAST_FAILPOINTS, system.clock), ...options.environment }
  const check = options.checkDeterminism ?? defaultCheck(process.env)
  const environment: Environment = { ...given, log: logWith(given.log, () => (begun.cluster?.me === undefined ? {} : { node: begun.cluster.me })) }
  const machines = ownMachines(options, () => secondLook(check, environment.log))
  /** What has to end again where this fails. */
  const begun: { cluster?: Cluster; host?: Host } = {}
  const { log } = environment
  const workspace = checkWorkspace(options.workspace)
  const names = subjects(options.prefix)
  const agentProtocol = options.agentProtocol && checkAgentProtocol(options.agentProtocol)
  const serviceTools = serviceDirectory(environment, names.prefix)
  const agents = agentTable(options.agents ?? [], { workspace, environment, directory: serviceTools, fallbacks: options.fallbacks })
  const channels = channelTable(options.channels ?? [])
  const env = variables()
  const models = createModels({
    environment,
    env,
    folder: workspace,
    ...(options.models ? { custom: options.models } : {}),
    ...(options.credentials ? { credentials: options.credentials } : {}),
  })
  const own = typeof options.transport === 'object' ? undefined : (options.transport ?? env.STATECAST_URL ?? 'embedded:./.statecast')
  const transport =
    own === undefined
      ? (options.transport as Transport)
      : await openTransport(own, {
          environment,
          owner: { pid: String(process.pid), ...options.owner },
          ...(options.prefix === undefined ? {} : { prefix: options.prefix }),
          ...(options.nats === undefined ? {} : { connection: options.nats }),
          ...(options.replicas === undefined ? {} : { replicas: options.replicas }),
        })
  try {
    const resumes = options.resume !== false
    if (resumes) serviceTools.start(transport.bus)
    const cluster = transport.capabilities.sharedByNodes
      ? await openCluster({ transport, names, environment, roles: resumes ? (options.roles ?? roles) : [] })
      : undefined
    if (cluster) begun.cluster = cluster
    const transcripts = new Transcripts(transport.journal)
    const outputs = new Outputs(log, cluster && othersOn(transport.bus, names, cluster, log))
    let draining: RuntimeError | undefined
    const admit = () => {
      if (draining) throw draining
    }
    const services = {
      environment,
      transport,
      outputs,
      transcripts,
      models,
      agents,
      channels,
      sendRules: options.sendPolicy ?? [],
      intake: new Map(),
      admit,
      ...(cluster && { lacking: cluster.lacking }),
    } as Services
    const agentOf = (name: string) => agentNamed(agents, name)
    const works = turnWorks({ environment, models, transcripts, agent: agentOf, cooldowns: sharedCooldowns(services) })
    const place = turnPlace(services, options.lanes)
    const conversation = registerSession(cluster?.place(works, options.placement === 'distributed') ?? works, place)
    const heartbeat = registerHeartbeat({ services, workspace, place, session: (key, agent) => session(key, { agent }) })
    const registrations = [options.onDrift ? { ...conversation, onDrift: options.onDrift } : conversation, registerProvider(), heartbeat, ...machines]
    const publish = publishOutputs(transport.bus, names, log, cluster?.me)
    const { events, diagnostics } = hostEvents({ environment, transcripts, outputs, publish })
    const host = new Host({
      journal: transport.journal,
      environment,
      registrations,
      ...(options.limits ? { limits: options.limits } : {}),
      ...(cluster ? { placement: cluster.placement } : {}),
      others: {
        create: (address, input) => services.directory.create(address, input),
        send: (address, event, how) => services.directory.send(address, event, how),
        read: (address) => services.directory.read(address),
        nextCommit: (address, timeoutMs) => services.directory.nextCommit(address, timeoutMs),
      },
      events: {
        ...events,
        ...(environment.failPoints === noFailPoints ? {} : { moment: (_, moment, commit) => hitAll(environment, moment, commit) }),
      },
    })
    services.host = begun.host = host
    services.directory = cluster?.directory(host) ?? localDirectory(host)
    const session = (key: string, which: { agent?: string } = {}) =>
      new Session(services, key, agentOf(which.agent ?? (agents.keys().next().value as string)).agent)
    if (resumes) await host.start()
    if (resumes) await startHeartbeats(services)
    const consume = (partition?: number) => consumeInbox({ services, names, session, partition })
    const stopInbox = resumes && !cluster ? consume() : async () => undefined
    cluster?.join({ host, works, agents, consume, drained: () => void drain() })

    const stopRetention = resumes && retention ? keepRetention({ services }, retention) : () => undefined

    let closed: Promise<void> | undefined
    const ended = Promise.withResolvers<void>()
    const close = (): Promise<void> => {
      closed ??= (async () => {
        stopRetention()
        diagnostics.stop()
        door?.stop()
        agentHost?.leave()
        await Promise.all([stopInbox(), cluster?.stop()])
        await host.close()
        serviceTools.stop()
        outputs.end(new RuntimeError('closed', 'this runtime was closed', { retryable: true, hint: 'what was accepted continues at the next start' }))
        // Whoever asked is told so.
        await Promise.all([agentHost?.settled(), door?.idle(answersMs)])
        await cluster?.close()
        if (own !== undefined) await transport.close()
        log.info({ transport: transport.name }, 'the runtime closed')
      })().finally(ended.resolve)
      return closed
    }
    const leave = async (timeoutMs: number): Promise<void> => {
      draining = new RuntimeError('closed', 'this node is draining', {
        retryable: true,
        hint: 'send the message again to another node, or when this one is back',
      })
      await environment.failPoints.hit('K20')
      // Others answer now, if there are any.
      if (runtime.nodes().length > 1) door?.stop()
      agentHost?.leave()
      await stopInbox()
      log.info({ timeoutMs, liveActors: host.liveCount }, 'draining: running turns may finish, no new work is taken')
      await (cluster ? cluster.drain(timeoutMs) : host.settled(timeoutMs))
      log.info({ unfinished: host.busyCount }, 'drained')
      await close()
    }
    // Asked again, or of what is closed, there is nothing more to do than to wait.
    let drained: Promise<void> | undefined
    const drain = (timeoutMs = 30_000): Promise<void> => (drained ??= closed ?? leave(timeoutMs))
    const runtime: Runtime = {
      services,
      subjects: names,
      session,
      actor: (kind, id, input) => new Actor(services, kind, id, input),
      publish: (subject, data, id) => transport.inbox.put(subject, id ?? environment.ids.next('in'), data),
      async *trace(address, from = 1) {
        for await (const commit of readCommits({ services }, address, from)) yield* traceEntries(commit)
      },
      replay: (address, to) => replay(transport.journal, address, host.registration(address.kind), to === undefined ? {} : { to }),
      async health() {
        const health = await transport.health()
        return {
          ...health,
          ready: health.writable && closed === undefined && draining === undefined,
          liveActors: host.liveCount,
          transport: transport.name,
          ...(cluster?.me === undefined ? {} : { node: cluster.me }),
        }
      },
      metrics: () => diagnostics.metrics,
      ended: ended.promise,
      nodes: () => cluster?.nodes() ?? [],
      async drainNode(id) {
        if (!cluster)
          throw new RuntimeError('unsupported', 'this runtime shares its actors with no other node', {
            hint: 'stop its process: it drains by itself',
          })
        await cluster.drainNode(id)
      },
      drain,
      close,
      [Symbol.asyncDispose]: close,
    }
    // Whoever shares the bus asks there; a store of one process has its own doors.
    const door = resumes && transport.capabilities.sharedByNodes ? openFrontDoor(runtime, names) : undefined
    const agentHost = resumes && agentProtocol ? openAgentProtocol(runtime, agentProtocol) : undefined
    log.info(
      { version, transport: transport.name, agents: [...agents.keys()], actors: machines.map(({ kind }) => kind), resumes },
      'the runtime started',
    )
    return runtime
  } catch (error) {
    serviceTools.stop()
    await begun.cluster?.stop()
    begun.host?.abandon()
    await begun.cluster?.close()
    if (own !== undefined) await transport.close()
    throw error
  }
}

/** ms for the answers of commands that wait for a turn, when there will be none any more. */
const answersMs = 1_000
