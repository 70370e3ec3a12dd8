/**
 * Fail points from the environment of a real process: `STATECAST_FAILPOINTS=K07:2:kill` kills it the second time that it is in the middle of a stream.
 * Several are separated by commas; actions are `kill`, `throw`, `delay=<ms>`.
 */
import { writeSync } from 'node:fs'
import { failPointsAt } from '../actors/index.ts'
import { type Clock, type Environment, type FailPoint, type FailPoints, failPoints, noFailPoints } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Commit } from '../contracts/journal.ts'

type Plan = { name: FailPoint; hit: number; action: string }

const parse = (text: string): Plan[] =>
  text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [name, hit = '1', action = 'kill'] = part.trim().split(':')
      if (name === undefined || !(name in failPoints) || !/^\d+$/.test(hit) || !/^(kill|throw|delay=\d+)$/.test(action))
        throw new RuntimeError('bad_request', `'${part}' is not a fail point`, {
          field: 'STATECAST_FAILPOINTS',
          hint: 'write NAME:HIT:ACTION, such as K07:1:kill; actions are kill, throw, delay=<ms>',
        })
      return { name: name as FailPoint, hit: Number(hit), action }
    })

/** @throws RuntimeError bad_request for a plan that cannot be read: a crash test that tests nothing is worse than none */
export const failPointsFrom = (text: string | undefined, clock: Clock): FailPoints => {
  if (!text) return noFailPoints
  const plans = parse(text)
  const counts = new Map<FailPoint, number>()
  return {
    hit(name) {
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      const plan = plans.find((one) => one.name === name && one.hit === count)
      if (!plan) return undefined
      if (plan.action === 'kill') die(name, count)
      if (plan.action === 'throw') throw new RuntimeError('internal', `fail point ${name}`)
      return new Promise<void>(
        (resolve) => void clock.setTimeout(resolve, plan.action === 'kill' ? 60_000 : Number(plan.action.slice('delay='.length))),
      )
    },
  }
}

/** With a last word on stderr: a process that is gone without one looks like the work of the operating system. */
const die = (name: FailPoint, hit: number): void => {
  writeSync(2, `fail point ${name}, hit ${hit}: kill (${failPoints[name]})\n`)
  process.kill(process.pid, 'SIGKILL')
}

/** Stops, delays or kills at whatever fail points are in a phase of a commit. */
export const hitAll = (environment: Environment, phase: Parameters<typeof failPointsAt>[0], commit: Commit): void | Promise<void> => {
  const held = failPointsAt(phase, commit).flatMap((name) => environment.failPoints.hit(name) ?? [])
  return held.length > 0 ? Promise.all(held).then(() => undefined) : undefined
}
