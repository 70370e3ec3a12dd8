/** The tools that micro services on the bus offer right now. One directory for all agents; each sees those that it may use. */

import type { Environment } from '../../contracts/environment.ts'
import { errorBody } from '../../contracts/errors.ts'
import type { Tool } from '../../contracts/tool.ts'
import type { Bus } from '../../contracts/transport.ts'
import { wildcard } from '../../contracts/wildcard.ts'
import { checkerOf } from '../schema.ts'
import type { ToolSource } from '../source.ts'
import { toolDefaults } from '../tool.ts'
import { callService } from './call.ts'
import { type Introduction, type Offer, readIntroduction } from './info.ts'
import { type Instance, offerTable } from './offers.ts'
import { type Workers, watchWorkers } from './workers.ts'

export type ServiceDirectory = {
  /** @param allowed names of tools, in which `*` stands for anything; true for all */
  toolsFor(allowed: true | readonly string[]): ToolSource
  /** Begins to look, if some agent may use services. */
  start(bus: Bus): void
  stop(): void
}

type Connected = { bus: Bus; workers: Workers }

/** ms for which a look takes answers, and ms from its end to the next one. */
const lookMs = 2_000
const pauseMs = 2_000
/** ms without a further answer after which all are taken to have answered: at the start, when the machine is busy, and later. */
const firstQuietMs = 500
const quietMs = 250
/** Looks that an instance may miss while it is silent. */
const missedMax = 5

const infoSubject = '$SRV.INFO'
const nothing = new Uint8Array()

/** @param prefix of our own subjects */
export const serviceDirectory = ({ clock, log }: Pick<Environment, 'clock' | 'log'>, prefix: string): ServiceDirectory => {
  const first = Promise.withResolvers<void>()
  let wanted = false
  let stopped = false
  let connected: Connected | undefined
  let looks = 0
  let current: AbortController | undefined
  let timer: unknown

  const toolOf = (offer: Offer, instances: () => Instance[]): Tool => {
    const { outputBytesMax } = toolDefaults
    return Object.freeze({
      ...offer.settings,
      source: `service:${offer.service}`,
      input: checkerOf(offer.settings.jsonSchema),
      outputBytesMax,
      execute: (input, context) => {
        // A loop in a shell may answer on its own subject only: whether such a worker is gone cannot be found out.
        const known = instances().flatMap(({ id, answersPings }) => (answersPings ? [id] : []))
        return callService({ ...(connected as Connected), prefix, offer, outputBytesMax, instances: known }, input, context)
      },
    } satisfies Tool)
  }
  const table = offerTable(log, toolOf)

  const hear = (introduction: Introduction, { workers }: Connected): void => {
    for (const { entry, instance } of table.hear(introduction, looks))
      void workers.ping(entry.offer.service, instance.id).then((state) => {
        if (state === 'there') instance.answersPings = true
      })
  }

  /** An instance that has not answered may be late: what counts is whether it is there. */
  const sweep = async ({ workers }: Connected, look: number): Promise<void> => {
    const pinged = table.unseen(look).map(async (listed) => {
      const { entry, instance } = listed
      const state = await workers.ping(entry.offer.service, instance.id)
      if (stopped || instance.seen >= look) return
      instance.missed = state === 'there' ? 0 : instance.missed + 1
      if (state === 'gone' || instance.missed >= missedMax) table.remove(listed)
    })
    await Promise.all(pinged)
  }

  const gather = async (at: Connected, signal: AbortSignal, settle: () => void): Promise<void> => {
    const look = looks
    let quiet = clock.setTimeout(settle, lookMs)
    try {
      // Within one process it is known that nobody is there to be asked.
      const answers = at.bus.wanted(infoSubject) ? at.bus.requestMany(infoSubject, nothing, { timeoutMs: lookMs, signal }) : []
      for await (const { data } of answers) {
        const introduction = readIntroduction(data, prefix)
        if (introduction !== undefined) hear(introduction, at)
        clock.clearTimeout(quiet)
        quiet = clock.setTimeout(settle, look === 1 ? firstQuietMs : quietMs)
      }
    } catch (error) {
      const { code, message } = errorBody(error)
      if (code !== 'not_found' && code !== 'closed') table.complain({ code, message }, 'services cannot be asked for their tools')
    } finally {
      clock.clearTimeout(quiet)
      settle()
    }
    if (!signal.aborted) await sweep(at, look)
  }

  const look = (): Promise<void> => {
    if (connected === undefined || stopped) return Promise.resolve()
    current?.abort()
    clock.clearTimeout(timer)
    const mine = new AbortController()
    current = mine
    looks += 1
    const { promise, resolve } = Promise.withResolvers<void>()
    void promise.then(first.resolve)
    void gather(connected, mine.signal, resolve).finally(() => {
      if (current !== mine) return
      current = undefined
      if (!stopped) timer = clock.setTimeout(() => void look(), pauseMs)
    })
    return promise
  }

  return {
    toolsFor(allowed) {
      wanted = true
      const patterns = allowed === true ? undefined : allowed.map(wildcard)
      const allows = (name: string): boolean => patterns === undefined || patterns.some((fits) => fits(name))
      return {
        allows,
        offered: () => new Map(table.tools().filter(([name]) => allows(name))),
        ready: () => (connected === undefined ? Promise.resolve() : first.promise),
        look,
        remedy: 'start the service that offers it, then ask again',
      }
    },
    start(bus) {
      if (!wanted) return
      connected = { bus, workers: watchWorkers(bus, clock) }
      void look()
    },
    stop() {
      stopped = true
      current?.abort()
      clock.clearTimeout(timer)
      first.resolve()
    },
  }
}
