/** How a command becomes the event that a session journals: with its agent's profile, what it wants for itself alone, and when it came. */
import { vouchFor } from '../actors/index.ts'
import type { Agent } from '../contracts/agent.ts'
import type { ConfigurationView } from '../contracts/configuration.ts'
import { definedOf } from '../contracts/defined.ts'
import type { IncomingMessage } from '../contracts/desk.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Message as TranscriptMessage } from '../contracts/message.ts'
import type { Models } from '../contracts/model.ts'
import { modelBelow, turnDefaults } from '../contracts/model-choice.rules.ts'
import { parseInput } from '../contracts/parse.ts'
import { defaultProfile, Profile } from '../contracts/profile.ts'
import type { ContextReport } from '../contracts/prompt.ts'
import { type Origin, webChannelId } from '../contracts/reply.ts'
import type { SessionCommand, SessionEvent } from '../contracts/session.ts'
import type { Skills } from '../contracts/skill.ts'
import type { Tools } from '../contracts/tool.ts'
import { intersection, layersFor } from '../tools/index.ts'

export type MessageCommand = Extract<SessionCommand, { type: 'message' }>

/** Who receives, and when. */
export type Receiver = {
  agent: Agent
  tools: Pick<Tools, 'describe' | 'bench'>
  /** The same for all agents. */
  skills?: Pick<Skills, 'version' | 'commandIn' | 'commands'> | undefined
  models: Pick<Models, 'defaultRef' | 'list' | 'get' | 'profiles' | 'endpoint'>
  /** Key of the session. */
  key: string
  now: number
  history(): Promise<TranscriptMessage[]>
  /** What the model is sent, with the size of each part. */
  context(): Promise<ContextReport>
  /** The model that the session wants, where it wants another one. */
  wantedModel(): Promise<string | undefined>
  /** As it holds when the message is received: a turn that is running keeps what it began with. */
  config: ConfigurationView
  /** The model that the session wants whose thread this one is. */
  inherited?: string | undefined
}

/** @param message with an id @returns a promise where something has to be looked up first */
export type Receive = (message: MessageCommand, by: Receiver) => SessionEvent | Promise<SessionEvent>

export type Reception = {
  receive: Receive
  /** Tells the sender whose code failed; there is none where no extension receives. */
  receiveFailed?: ((error: unknown) => never) | undefined
}

/**
 * The agent as it is configured now: a later change does not change what was accepted. Of its rules for tools those that hold for this message.
 * @param origin where the message came from @throws RuntimeError bad_request where it is no agent of `agent()`
 */
export const profileOf = (by: Configured & { key: string }, origin?: Origin): Profile => {
  const profile = ownProfile(by, origin)
  if (profile.toolLayers === undefined) return profile
  const { toolLayers: all, ...rest } = profile
  const toolLayers = layersFor(all, by.key, origin)
  return toolLayers.length === all.length ? profile : toolLayers.length === 0 ? rest : { ...rest, toolLayers }
}

type Configured = Pick<Receiver, 'agent' | 'config' | 'inherited'> & { models: Pick<Models, 'defaultRef'> }

const ownProfile = ({ agent, models, config, inherited }: Configured, origin: Origin | undefined): Profile => {
  const chosen = modelBelow({ config: config.value, agent, defaultRef: models.defaultRef, origin, inherited })
  const { above, below, skillFilters } = turnDefaults(config.value, agent.name, origin)
  const key = JSON.stringify([chosen, above, below, skillFilters])
  const made = profiles.get(agent) ?? new Map<string, Profile>()
  const before = made.get(key)
  if (before) return before
  const profile = parseInput(Profile, {
    ...defaultProfile,
    ...below,
    ...agent.profile,
    ...above,
    ...definedOf({ skillFilter: intersection(agent.profile.skillFilter, ...skillFilters) }),
    agent: agent.name,
    ...chosen,
    // A model that nobody has named does not answer for one that somebody has.
    ...definedOf({
      fallbacks: agent.model === undefined && chosen.modelSource === 'default' && agent.profile.fallbacks === undefined ? [] : undefined,
    }),
  })
  if (made.size >= profilesMax) made.clear()
  profiles.set(agent, made.set(key, profile))
  return profile
}
/** Which skills the turn of a message may use, and in which state it finds them. @param filters besides that of the agent: of the channel, of the message */
export const withSkills = (profile: Profile, { skills }: Pick<Receiver, 'skills'>, ...filters: (readonly string[] | undefined)[]): Profile => {
  const skillFilter = intersection(profile.skillFilter, ...filters)
  const skillsVersion = skills?.version
  return skillFilter === undefined && skillsVersion === undefined ? profile : { ...profile, ...definedOf({ skillFilter, skillsVersion }) }
}

/** An agent does not change, and its settings seldom: its profile is made and parsed once, not with every message. */
const profiles = new WeakMap<Agent, Map<string, Profile>>()
const profilesMax = 100

/** What a message says, apart from who brought it and what it wants for itself alone. */
export const splitMessage = ({
  skills,
  model,
  queueMode,
  thinking,
  timeoutMs = 0,
  streaming,
  heartbeat,
  origin,
  clientTools,
  toolChoice,
  format,
  id = '',
  ...message
}: MessageCommand) => {
  const overrides = definedOf({ clientTools, toolChoice, format, model, queueMode, thinking, runTimeoutMs: timeoutMs > 0 ? timeoutMs : undefined })
  return { id, message, origin, streaming, heartbeat, skills, overrides: Object.keys(overrides).length === 0 ? {} : { overrides } }
}

/** Without anybody who brings channels, a message comes from code, and its answer goes to those who listen to the session. */
export const receiveMessage = (command: MessageCommand, by: Receiver): IncomingMessage => {
  const { id, message, origin, heartbeat, skills, overrides } = splitMessage(command)
  // Who reads the session itself is answered there.
  if (origin !== undefined && origin.channel !== webChannelId)
    throw new RuntimeError('unsupported', `a message of the channel '${origin.channel.slice(0, 80)}' has nowhere to be answered`, {
      field: 'origin',
      hint: 'this runtime has no extension for channels: add chat({ channels: […] }) of statecast/chat to its extensions, or leave origin out',
    })
  // Everything in it was parsed on its way here, and is nobody's own.
  const profile = withSkills({ ...profileOf(by), ...definedOf({ heartbeat }) }, by, skills)
  return vouchFor({ ...message, id, at: by.now, profile, ...overrides })
}

/** @param how what makes an event of a message, and what the sender is told where that fails */
export const eventOfCommand = (
  command: SessionCommand,
  by: Receiver,
  { receive, receiveFailed }: Reception,
): SessionEvent | Promise<SessionEvent> => {
  const { now: at } = by
  switch (command.type) {
    case 'message':
      if (receiveFailed === undefined) return receive(command, by)
      try {
        const event = receive(command, by)
        return event instanceof Promise ? event.catch(receiveFailed) : event
      } catch (error) {
        return receiveFailed(error)
      }
    case 'compact':
    case 'side':
      return { ...command, at, profile: profileOf(by) }
    case 'reset':
    case 'configure':
    case 'note':
    case 'inject':
      return { ...command, at }
    default:
      return command
  }
}
