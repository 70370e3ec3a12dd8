/** Actors on whatever node holds their partition. */

import type { Ask, Directory, Host, Question, SendOptions } from '../actors/index.ts'
import { answer, answerMs, decode, directoryFrom, encode, shuttingDownError, wholeCopy } from '../actors/index.ts'
import { type Environment, pause } from '../contracts/environment.ts'
import { type ErrorBody, isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { partitionOf } from '../contracts/placement.ts'
import { type Address, formatAddress, type Subjects } from '../contracts/subjects.ts'
import type { Bus } from '../contracts/transport.ts'
import type { Membership } from './membership.ts'

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

/** ms for a partition to be held by somebody. */
const patienceMs = 15_000
const stepMs = 50
/** Referrals followed without a pause: two nodes may each take the other for the holder while word of a change is on its way. */
const hopsMax = 3

export const sharedDirectory = (parts: DirectoryParts): Directory => {
  const { host, membership, environment, me, leaving } = parts
  const { clock } = environment

  /** Where an actor is worked on now: here if it is in memory here, also where another node holds its partition. */
  const placeOf = (address: Address): string | undefined => {
    if (host().holds(address)) return me ?? here
    const holder = membership.holder(partitionOf(address))
    // Without any node, this process does it.
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
      // A caller of another node need not wait until this one has gone.
      if (leaving()) throw shuttingDownError()
      if (clock.now() >= until) throw nobodyError(address)
      await pause(clock, stepMs)
      place = placeOf(address)
    }
  }
  return directoryFrom(ask)
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
    if (isRuntimeError(error) && error.code === 'closed' && !answered) throw shuttingDownError()
    throw error
  } finally {
    unlisten()
  }
}

/** On an answer that is an error. */
export const failedHeader = 'Statecast-Failed'
