/** Actors by their address, for those who need not know in which process they live. Alone, this process has them all. */
import { RuntimeError } from '../../contracts/errors.ts'
import type { Receipt } from '../../contracts/journal.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Extent, RootView } from '../root/view.ts'
import type { SendOptions } from './host.options.ts'
import type { Host } from './host.ts'

/** ms for an answer of another node. */
export const answerMs = 35_000

/** What can be asked of an actor without knowing where it is. Each throws what the same question to its host does. */
export interface Directory {
  create(address: Address, input?: unknown): Promise<void>
  send(address: Address, event: unknown, options?: SendOptions): Promise<Receipt>
  read(address: Address, extent?: Extent): Promise<RootView>
  seqOf(address: Address, id: string): Promise<number | undefined>
  /** @returns whether it was quarantined */
  revive(address: Address): Promise<boolean>
  /** @returns whether another machine had recorded it */
  adopt(address: Address): Promise<boolean>
  forget(address: Address): Promise<boolean>
  /** Resolves at the next commit, or after `timeoutMs`; perhaps earlier. */
  nextCommit(address: Address, timeoutMs: number): Promise<void>
}

/** What nodes ask of each other about one actor, and what of their host answers it. */
const questions = {
  create: (host, address, [input]) => host.create(address, input),
  send: (host, address, [event, options]) => host.send(address, event, options as SendOptions),
  // Of what a later version may ask it gives too much.
  read: (host, address, [extent]) => host.read(address, extent === 'outline' ? extent : extent === true),
  seqOf: (host, address, [id]) => host.seqOf(address, id as string),
  revive: async (host, address) => (await host.get(address)).revive(),
  adopt: (host, address) => host.adopt(address),
  forget: (host, address) => host.forget(address),
  // After that nobody waits for the answer any more.
  nextCommit: (host, address, [timeoutMs]) => host.nextCommit(address, Math.min(timeoutMs as number, answerMs)),
  holds: async (host, address) => host.holds(address),
} satisfies Record<string, (host: Host, address: Address, args: unknown[]) => Promise<unknown>>
export type Question = keyof typeof questions

type AnyQuestion = (host: Host, address: Address, args: unknown[]) => Promise<unknown>
/** @throws RuntimeError unsupported for what no node of this version is asked */
export const answer = async (host: Host, name: Question, address: Address, args: unknown[]): Promise<unknown> => {
  if (!Object.hasOwn(questions, name)) throw new RuntimeError('unsupported', `no node is asked '${String(name).slice(0, 40)}'`)
  return (questions[name] as AnyQuestion)(host, address, args)
}

/** @param host called when something is asked: a host and its directory know each other */
export const localDirectory = (host: () => Host): Directory =>
  directoryFrom((name, address, ...args) => (questions[name] as AnyQuestion)(host(), address, args))

export type Ask = (name: Question, address: Address, ...args: unknown[]) => Promise<unknown>

export const directoryFrom = (ask: Ask): Directory => ({
  create: (address, input) => ask('create', address, input) as Promise<void>,
  send: (address, event, options) => ask('send', address, event, options) as Promise<Receipt>,
  read: (address, extent) => ask('read', address, extent) as Promise<RootView>,
  seqOf: (address, id) => ask('seqOf', address, id) as Promise<number | undefined>,
  revive: (address) => ask('revive', address) as Promise<boolean>,
  adopt: (address) => ask('adopt', address) as Promise<boolean>,
  forget: (address) => ask('forget', address) as Promise<boolean>,
  nextCommit: (address, timeoutMs) => ask('nextCommit', address, timeoutMs) as Promise<void>,
})
