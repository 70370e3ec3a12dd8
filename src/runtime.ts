import { Host, localDirectory, replay } from './actors/index.ts'
import { accessOf, checkAgentProtocol, execute, listen, neededScope, openAgentProtocol, parsePlace, serveCommands } from './api/index.ts'
import { follow, inProcessClient } from './client/index.ts'
import { type Cluster, openCluster } from './cluster/index.ts'
import type { Access } from './contracts/access.ts'
import { definedOf } from './contracts/defined.ts'
import { noFailPoints } from './contracts/environment.ts'
import { errorBody, RuntimeError } from './contracts/errors.ts'
import { roles } from './contracts/placement.ts'
import { allShown } from './contracts/shown.ts'
import { subjects } from './contracts/subjects.ts'
import { checkShortForms, defaultChat } from './default-chat.ts'
import { equip } from './equipment.ts'
import { configKind, providerKind, registerConfig, registerProvider, registerSession, Transcripts, turnEffects } from './machines/index.ts'
import { openStore } from './open-store.ts'
import type { ExtensionParts, Machines, Parts, Runtime, RuntimeOptions, RuntimeParts, SharedParts } from './runtime/index.ts'
import {
  Actor,
  agentsInside,
  checkExtensions,
  checkRetention,
  checkWorkspace,
  consumeInbox,
  consumeWhen,
  defaultCheck,
  defineApp,
  determinismCheck,
  EventHub,
  emptyHash,
  environmentOf,
  FileStore,
  healthOf,
  hitAll,
  hooksOf,
  hostEvents,
  InspectionStream,
  keepRetention,
  loadPlugins,
  localServices,
  openDocuments,
  othersOn,
  publishOutputs,
  readEntries,
  receiveMessage,
  redactionOf,
  registerBrought,
  runExtensions,
  sessionsOf,
  socketsOf,
  turnServices,
  userMachines,
  variables,
  version,
  withParts,
} from './runtime/index.ts'

export type { Health, Machines, Runtime, RuntimeOptions } from './runtime/index.ts'

/**
 * Opens the store, takes up work that was cut off, and is ready to talk.
 * @throws RuntimeError bad_request (an option), locked (another process has the folder), not_durable (a machine), corrupt_at, log_full …
 */
export const createRuntime = async <Registered extends Machines = Machines>(
  options: RuntimeOptions<Registered> = {},
): Promise<Runtime<Registered>> => {
  defineApp(options)
  checkShortForms(options)
  const retention = options.retention && checkRetention(options.retention)
  const check = options.checkDeterminism ?? defaultCheck(options.environment?.variables ?? process.env)
  const { environment, traces } = environmentOf(options, () => begun.cluster?.me)
  const plugins = await loadPlugins(options.extensions ?? [await defaultChat(options)], environment.folder)
  const extensions = checkExtensions(
    plugins.map(({ extension }) => extension),
    ownKinds,
  )
  const running = runExtensions(options.resume === false ? [] : plugins, environment)
  const hooks = hooksOf(running.present, environment)
  const brought = extensions.flatMap(({ machines: theirs = {} }) => Object.keys(theirs))
  const machines = userMachines(options, [...ownKinds, ...brought], () => determinismCheck(check, environment.log))
  /** What has to end again where this fails. */
  const begun: { cluster?: Cluster; host?: Host; close?: () => Promise<void> } = {}
  const { log } = environment
  const workspace = checkWorkspace(options.workspace, environment.folder)
  const names = subjects(options.prefix)
  const agentProtocol = options.agentProtocol && checkAgentProtocol(options.agentProtocol)
  const env = variables(environment.variables, environment.folder)
  const { serviceTools, skills, mcp, agents, models, place } = equip(options, { workspace, environment, extensions, env, prefix: names.prefix })
  const { transport, isOurs } = await openStore(options, env, environment)
  try {
    const resumes = options.resume !== false
    if (resumes) serviceTools.start(transport.bus)
    const cluster = transport.capabilities.sharedByNodes
      ? await openCluster({ transport, names, environment, roles: resumes ? (options.roles ?? roles) : [], version })
      : undefined
    if (cluster) begun.cluster = cluster
    const transcripts = new Transcripts(transport.journal)
    const files = new FileStore(transport, environment, options.uploads)
    const outputs = new EventHub(log, cluster && othersOn(transport.bus, names, cluster, log))
    let draining: RuntimeError | undefined
    const admit = () => {
      if (draining) throw draining
    }
    const present = (): Host => begun.host as Host
    const directory = cluster?.directory(present) ?? localDirectory(present)
    const documents = openDocuments({ directory, outputs, transport, environment }, options.config, agents)
    const { config, tokens, overrides } = documents
    const shared: SharedParts = {
      config,
      tokens,
      overrides,
      environment,
      traces,
      transport,
      subjects: names,
      directory,
      outputs,
      transcripts,
      models,
      agents,
      skills,
      mcp,
      files,
      admit,
      ...(cluster && { lacking: cluster.lacking }),
    }
    const extensionParts: ExtensionParts = { ...shared, ...place, session: (key, which) => session(key, which), receive: receiveMessage }
    const sockets = socketsOf(extensions, extensionParts)
    const effects = turnEffects({ ...turnServices(shared, workspace, sockets), hooks: hooks.turn })
    files.admit(sockets.understanding?.kinds ?? [])
    const services = localServices(shared, options.lanes)
    const placed = cluster?.place(effects, options.placement === 'distributed') ?? effects
    const conversation = registerSession(placed, services, sockets)
    const registrations = [
      options.onDrift ? { ...conversation, onDrift: options.onDrift } : conversation,
      registerProvider(),
      registerConfig(emptyHash),
      ...[...registerBrought(extensions, extensionParts), ...machines].map(agentsInside(shared, placed)),
    ]
    const publish = publishOutputs(transport.bus, names, log, cluster?.me)
    const inspection = new InspectionStream(shared, present, cluster?.me)
    const { events, diagnostics, stopEvents } = hostEvents({ ...shared, inspection, publish, observe: hooks })
    const host = new Host({
      journal: transport.journal,
      environment,
      registrations,
      ...definedOf({ limits: options.limits, placement: cluster?.placement }),
      others: directory,
      events: {
        ...events,
        ...(environment.failPoints === noFailPoints ? {} : { reached: (_, phase, commit) => hitAll(environment, phase, commit) }),
      },
    })
    begun.host = host
    const parts: Parts = {
      ...shared,
      host,
      receive: sockets.receive ?? receiveMessage,
      receiveFailed: sockets.receiveFailed,
      receiving: new Map(),
      redaction: redactionOf(options),
      ...(options.history && { history: options.history }),
    }
    const { session, keyOf } = sessionsOf(parts)
    if (resumes) {
      skills.start()
      await host.start()
    }
    await documents.start(resumes)
    const ready = Promise.withResolvers<void>()
    const consume = (partition?: number) => consumeInbox({ parts, session, partition })
    const consumeSoon = (partition: number) => consumeWhen(ready.promise, () => consume(partition), log)
    let stopInbox = async (): Promise<void> => undefined
    cluster?.join({ host, effects, agents, consume: consumeSoon, drained: () => void drain() })

    const stopRetention = resumes && retention ? keepRetention(parts, retention) : () => undefined

    let door: ReturnType<typeof serveCommands> | undefined
    let agentHost: ReturnType<typeof openAgentProtocol> | undefined
    let closed: Promise<void> | undefined
    const ended = Promise.withResolvers<void>()
    const close = (): Promise<void> => {
      closed ??= (async () => {
        stopRetention()
        documents.stop()
        skills.stop()
        hooks.tell('gatewayStop', {})
        await running.stop()
        stopEvents()
        door?.stop()
        agentHost?.leave()
        await Promise.all([stopInbox(), cluster?.stop()])
        await host.close()
        serviceTools.stop()
        await mcp.close()
        outputs.end(new RuntimeError('closed', 'this runtime was closed', { retryable: true, hint: 'what was accepted continues at the next start' }))
        // The caller is told so.
        await Promise.all([agentHost?.settled(), door?.idle(answersMs)])
        await cluster?.close()
        if (isOurs) await transport.close()
        log.info({ transport: transport.name }, 'the runtime closed')
      })().finally(ended.resolve)
      return closed
    }
    begun.close = close
    const leave = async (timeoutMs: number): Promise<void> => {
      draining = new RuntimeError('closed', 'this node is draining', {
        retryable: true,
        hint: 'send the message again to another node, or when this one is back',
      })
      await environment.failPoints.hit('K20')
      if (runtime.nodes().length > 1) door?.stop() // others answer now
      agentHost?.leave()
      await stopInbox()
      log.info({ timeoutMs, liveActors: host.liveCount }, 'draining: running turns may finish, no new work is taken')
      await (cluster ? cluster.drain(timeoutMs) : host.settled(timeoutMs))
      log.info({ unfinished: host.busyCount }, 'drained')
      await close()
    }
    let drained: Promise<void> | undefined // asked again, or of what is closed, there is nothing more to do than to wait
    const drain = (timeoutMs = 30_000): Promise<void> => (drained ??= closed ?? leave(timeoutMs))
    const runtime: Runtime = {
      subjects: names,
      models: { defaultRef: models.defaultRef, list: () => models.list(), get: (ref) => models.get(ref) },
      log,
      shown: sockets.shown ?? allShown,
      shared: transport.capabilities.sharedByNodes,
      session,
      actor: (kind, id, input) => new Actor(parts, kind, id, input),
      publish: (subject, data, id) => transport.inbox.put(subject, id ?? environment.ids.next('in'), data),
      command: async <Result>(name: string, input: unknown = {}, access?: Access) => (await execute(whole, name, input, access)) as Result,
      keyOf,
      accessOf: (hash) => accessOf(tokens, hash, environment.clock.now()),
      scopeOf: (command) => neededScope(whole, command),
      get config() {
        return config.view
      },
      events: (address, after) => listen(parts, address, after === undefined ? undefined : parsePlace(after)),
      onSessionChange: (listener) => outputs.onSessionChange(listener),
      onGrowth: (address, listener) => outputs.growth.watch(address, listener),
      trace: (address, from = 1) => readEntries(parts, address, from),
      replay: (address, to) => replay(transport.journal, address, host.registration(address.kind), to === undefined ? {} : { to }),
      registration: (kind) => host.registration(kind),
      tracing: environment.tracing ?? traces,
      health: () =>
        healthOf({
          transport,
          host,
          isEnding: () => (closed ?? draining) !== undefined,
          node: cluster?.me,
          mcp: options.mcp && mcp.report(),
        }),
      metrics: () => diagnostics.metrics,
      settled: (timeoutMs) => host.settled(timeoutMs),
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
    const whole: RuntimeParts = { ...parts, runtime, extensions: running.control }
    await running.start(whole)
    hooks.tell('gatewayStart', {})
    ready.resolve()
    if (resumes && !cluster) stopInbox = consume()
    // Programs that share the bus ask there; a store of one process has its own doors.
    if (resumes && transport.capabilities.sharedByNodes) door = serveCommands(whole)
    if (resumes && agentProtocol)
      agentHost = openAgentProtocol(whole, agentProtocol, (message) => follow(inProcessClient(runtime), message, { clock: environment.clock }))
    log.info(
      { version, transport: transport.name, agents: [...agents.keys()], actors: machines.map(({ kind }) => kind), resumes },
      'the runtime started',
    )
    return withParts(runtime, whole)
  } catch (error) {
    if (begun.close)
      await begun.close().catch((failure: unknown) => log.error({ error: errorBody(failure) }, 'what had started did not end in good order'))
    else {
      serviceTools.stop()
      await mcp.close()
      await begun.cluster?.stop()
      begun.host?.abandon()
      await begun.cluster?.close()
      if (isOurs) await transport.close()
    }
    throw error
  }
}

/** Kinds of actors that nobody else brings. */
const ownKinds = ['session', providerKind, configKind]

/** ms for the answers of commands that wait for a turn, when there will be none any more. */
const answersMs = 1_000
