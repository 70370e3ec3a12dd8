/** Actors wherever they are: in this process, or on the node that holds their partition. */

import type { Host, RootView, SendOptions } from '../actors/index.ts'
import { decode, encode, wholeCopy } from '../actors/index.ts'
import { type Environment, pause } from '../contracts/environment.ts'
import { type ErrorBody, isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { Receipt } from '../contracts/journal.ts'
import { partitionOf } from '../contracts/placement.ts'
import { type Address, formatAddress, type Subjects } from '../contracts/subjects.ts'
import type { Bus } from '../contracts/transport.ts'
import type { Membership } from './membership.ts'

/** What can be asked of an actor without knowing where it is. Each throws what the same question to its host does. */
export interface Directory {
  create(address: Address, input?: unknown): Promise<void>
  send(address: Address, event: unknown, options?: SendOptions): Promise<Receipt>
  /** @param whole with tags and children */
  read(address: Address, whole?: boolean): Promise<RootView>
  seqOf(address: Address, id: string): Promise<number | undefined>
  /** @returns whether it was quarantined */
  revive(address: Address): Promise<boolean>
  forget(address: Address): Promise<boolean>
  /** Resolves at the next commit, or after `timeoutMs`; perhaps earlier. */
  nextCommit(address: Address, timeoutMs: number): Promise<void>
}

/** What nodes ask of each other about one actor, and what of their host answers it. */
const questions = {
  create: (host, address, [input]) => host.create(address, input),
  send: (host, address, [event, options]) => host.send(address, event, options as SendOptions),
  read: (host, address, [whole]) => host.read(address, whole === true),
  seqOf: (host, address, [id]) => host.seqOf(address, id as string),
  revive: async (host, address) => (await host.get(address)).revive(),
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
  directoryOf((name, address, ...args) => (questions[name] as AnyQuestion)(host(), address, args))

type Ask = (name: Question, address: Address, ...args: unknown[]) => Promise<unknown>

const directoryOf = (ask: Ask): Directory => ({
  create: (address, input) => ask('create', address, input) as Promise<void>,
  send: (address, event, options) => ask('send', address, event, options) as Promise<Receipt>,
  read: (address, whole) => ask('read', address, whole) as Promise<RootView>,
  seqOf: (address, id) => ask('seqOf', address, id) as Promise<number | undefined>,
  revive: (address) => ask('revive', address) as Promise<boolean>,
  forget: (address) => ask('forget', address) as Promise<boolean>,
  nextCommit: (address, timeoutMs) => ask('nextCommit', address, timeoutMs) as Promise<void>,
})

type DirectoryParts = {
  membership: Membership
  host: () => Host
  bus: Bus
  names: Subjects
  environment: Pick<Environment, 'clock' | 'ids'>
  /** This node, if it is one. */
  me: string | undefined
  /** This process is about to end. */
  leaving: () => boolean
}

/** ms for an answer of another node, and for a partition to be held by somebody. */
const answerMs = 35_000
const patienceMs = 15_000
const stepMs = 50
/** Referrals followed without a pause: two nodes may each take the other for the holder while word of a change is on its way. */
const hopsMax = 3

export const sharedDirectory = (parts: DirectoryParts): Directory => {
  const { host, membership, environment, me, leaving } = parts
  const { clock } = environment

  /** Where an actor is worked on now: here if it is in memory here, whoever holds its partition. */
  const placeOf = (address: Address): string | undefined => {
    if (host().holds(address)) return me ?? here
    const holder = membership.holder(partitionOf(address))
    // Without any node, whoever asks does it.
    return holder ?? (me === undefined && membership.members.nodes.length === 0 ? here : undefined)
  }

  const ask: Ask = async (name, address, ...given) => {
    // A question may be asked twice, where its first answer was lost: a message needs a name then.
    const args = name === 'send' ? [given[0], withId(given[1] as SendOptions | undefined, environment)] : given
    const until = clock.now() + patienceMs
    let place = placeOf(address)
    for (let hops = 1; ; hops++) {
      try {
        if (place !== undefined && (place === me || place === here)) return await answer(host(), name, address, args)
        if (place !== undefined) return await askNode(parts, place, name, address, args)
      } catch (error) {
        if (!isElsewhere(error) || host().closed || clock.now() >= until) throw error
        place = (error as RuntimeError).data?.node as string | undefined
        if (place !== undefined && place !== me && hops < hopsMax) continue
      }
      // Whoever asks another node need not wait until we have gone.
      if (leaving()) throw closedHere()
      if (clock.now() >= until) throw nobodyError(address)
      await pause(clock, stepMs)
      place = placeOf(address)
    }
  }
  return directoryOf(ask)
}

/** In this process, though it is no node. */
const here = ''

const withId = (options: SendOptions | undefined, { ids }: Pick<Environment, 'ids'>): SendOptions => ({
  ...options,
  id: options?.id ?? ids.next('send'),
})

/** It moved while we asked, or the node that was asked is gone. */
const isElsewhere = (error: unknown): boolean => isRuntimeError(error) && error.retryable && (error.code === 'fenced' || error.code === 'closed')

const nobodyError = (address: Address): RuntimeError =>
  new RuntimeError('log_unavailable', `no node has ${formatAddress(address)} at the moment`, {
    retryable: true,
    hint: "see 'statecast nodes': at least one with the role 'session' is needed",
  })

export const elsewhereError = (address: Address, node: string | undefined): RuntimeError =>
  new RuntimeError('fenced', `${formatAddress(address)} is on another node`, {
    retryable: true,
    hint: 'ask again; routed requests do so by themselves',
    data: { node },
  })

const closedHere = (): RuntimeError =>
  new RuntimeError('closed', 'this runtime is shutting down', { retryable: true, hint: 'send the message again when it is back' })

/** One question to one node. @throws RuntimeError bad_request for what cannot be written down; closed, retryable, when it is gone before it answers; whatever it answers with */
export const askNode = async (
  { bus, names, membership }: Pick<DirectoryParts, 'bus' | 'names' | 'membership'>,
  node: string,
  name: Question,
  address: Address,
  args: unknown[] = [],
): Promise<unknown> => {
  const gone = Promise.withResolvers<never>()
  let answered = false
  const lost = () => new RuntimeError('closed', `the node ${node} is gone`, { retryable: true, hint: 'another one takes over' })
  const unlisten = membership.listen(() => membership.isAlive(node) || gone.reject(lost()))
  try {
    const question = bus.request(
      names.node(node, name),
      encode({ address: formatAddress(address), args: args.map((value) => wholeCopy(value).copy) }),
      {
        timeoutMs: answerMs,
      },
    )
    question.catch(() => undefined)
    const { data, headers } = await Promise.race([question, gone.promise])
    answered = true
    const answer = decode(data)
    if (headers?.[failedHeader] !== undefined) throw RuntimeError.from(answer as ErrorBody)
    return answer
  } catch (error) {
    if (isRuntimeError(error) && error.code === 'not_found' && error.retryable) throw lost()
    // Our own transport, and not what was asked.
    if (isRuntimeError(error) && error.code === 'closed' && !answered) throw closedHere()
    throw error
  } finally {
    unlisten()
  }
}

/** On an answer that is an error. */
export const failedHeader = 'Statecast-Failed'
