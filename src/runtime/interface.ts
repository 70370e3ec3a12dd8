/** What `createRuntime` gives, with what it knows of the machines that were registered. */
import type { AnyStateMachine, InputFrom } from 'xstate'
import type { MachineOptions, Registration, Replayed, TraceEntry } from '../actors/index.ts'
import type { NodeRow } from '../cluster/index.ts'
import type { Access } from '../contracts/access.ts'
import type { ConfigurationView } from '../contracts/configuration.ts'
import type { Logger } from '../contracts/environment.ts'
import type { GatewayScope } from '../contracts/gateway.ts'
import type { Models } from '../contracts/model.ts'
import type { ShownText } from '../contracts/shown.ts'
import type { Address, Subjects } from '../contracts/subjects.ts'
import type { Tracing } from '../contracts/tracing.ts'
import type { TransportHealth } from '../contracts/transport.ts'
import type { McpReport } from '../tools/index.ts'
import type { Actor } from './actor.ts'
import type { Metrics } from './metrics.rules.ts'
import type { Feed } from './output-event.ts'
import type { Session } from './session.ts'

/** Machines by the kind of their actors; with options as `{ machine, … }`. */
export type Machines = Record<string, AnyStateMachine | ({ machine: AnyStateMachine } & MachineOptions)>

type MachineOf<Entry> = Entry extends { machine: infer Machine extends AnyStateMachine }
  ? Machine
  : Entry extends AnyStateMachine
    ? Entry
    : AnyStateMachine

/** @property node the name of this node among those that share the transport @property mcp its MCP servers, if it has any */
export type Health = TransportHealth & { ready: boolean; liveActors: number; transport: string; node?: string; mcp?: McpReport[] }

/** Alone it stands for a runtime of any machines; `Runtime<{ order: typeof order }>` knows what its actors take and give. */
export interface Runtime<Registered extends Machines = Machines> {
  readonly subjects: Subjects
  /** Whether other processes run the same actors: what is heard of them then comes over a bus. */
  readonly shared: boolean
  /** A conversation, by key; it begins with its first message. */
  session(key: string, which?: { agent?: string | undefined }): Session
  /** An actor of one of your own machines. @param input for its creation, if it is not there yet */
  actor<Kind extends keyof Registered & string>(
    kind: Kind,
    id: string,
    input?: InputFrom<MachineOf<Registered[Kind]>>,
  ): Actor<MachineOf<Registered[Kind]>>
  /** Stores a message for an actor, as a publisher on `statecast.in.<kind>.<id>` does. */
  publish(subject: string, data: Uint8Array, id?: string): Promise<{ duplicate: boolean }>
  /** Carries out a command by its name, as every door does; what it answers is plain JSON. @throws RuntimeError as the command does; bad_request naming the field @param access on whose behalf; default: somebody who may do everything */
  command<Result = unknown>(name: string, input?: unknown, access?: Access): Promise<Result>
  /** The one key of a session, by whatever name it is called. @throws RuntimeError bad_request */
  keyOf(key: string): string
  /** What a token allows that was made with `tokens.create`; undefined for one that is none, or is over. @param hash SHA-256 of it, in hex */
  accessOf(hash: string): Access | undefined
  /** What a token needs for a command, of the node or of an extension; undefined where there is none of that name. */
  scopeOf(command: string): GatewayScope | undefined
  /** What is configured now. */
  readonly config: ConfigurationView
  /**
   * What an actor says, from the moment of this call on, numbered where it is durable.
   * @param after the place of the event that was seen last, such as `12.3.1k9x2`: what came since comes first
   */
  events(address: Address, after?: string): Feed
  /** Called with the key of each session that this node has written to or deleted. @returns the unsubscriber */
  onSessionChange(listener: (key: string) => void): () => void
  /** Calls back with the newest sequence of an actor's journal when it has grown, whichever node wrote; 0 when it was deleted here. Hints: one may be lost. @returns the unsubscriber */
  onGrowth(address: Address, listener: (seq: number) => void): () => void
  trace(address: Address, from?: number): AsyncGenerator<TraceEntry>
  replay(address: Address, to?: number): Promise<Replayed>
  /** How actors of a kind are made: its machine, with its signature. @throws RuntimeError not_found */
  registration(kind: string): Registration
  /** What people see of what a model says. */
  readonly shown: ShownText
  /** The models that there are. */
  readonly models: Pick<Models, 'defaultRef' | 'list' | 'get'>
  readonly log: Logger
  /** Where doors tell what they do for a run. */
  readonly tracing: Tracing
  health(): Promise<Health>
  /** What the sessions of this node have done since it started, counted from their events. */
  metrics(): Metrics
  /** Resolves when no actor of this process has anything to do any more, or after `timeoutMs`. @returns whether that is so */
  settled(timeoutMs: number): Promise<boolean>
  /** Resolves when this runtime has closed, for whatever reason. */
  readonly ended: Promise<void>
  /** The nodes that share this transport; none where it is of one process. */
  nodes(): NodeRow[]
  /** Asks a node to give away what it has, and to end. @throws RuntimeError not_found, unsupported */
  drainNode(id: string): Promise<void>
  /** Takes no new work, lets turns that run end within `timeoutMs`, then closes; what has not ended goes on at the next start. */
  drain(timeoutMs?: number): Promise<void>
  /** Closes at once: turns that run are cut off and go on at the next start. Safe twice. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
