/** An actor that goes on under another machine than the one that recorded it: who has taken it over, and whether it stands there as it stood before. */
import { RuntimeError } from '../../contracts/errors.ts'
import type { ActorPath, Commit, Input } from '../../contracts/journal.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Frame, Journal } from '../../contracts/transport.ts'
import type { Replica } from '../replica/replica.ts'
import { commitOf } from './codec.ts'

type Adoption = NonNullable<Commit['adopts']> & { seq: number }

const pageSize = 1000

/**
 * The last of the machines that took it over, from a commit on and up to another one.
 * @param page frames from there on that were read already, with the number that was asked for @throws RuntimeError corrupt_at
 */
export const newestAdoption = async (
  journal: Journal,
  address: Address,
  from: number,
  to: number,
  page?: { frames: readonly Frame[]; limit: number },
): Promise<Adoption | undefined> => {
  let found: Adoption | undefined
  let read = page
  for (let next = from; next <= to; read = undefined) {
    const limit = read?.limit ?? Math.min(pageSize, to - next + 1)
    const frames = read?.frames ?? (await journal.read(address, next, { limit }))
    const since = frames.filter(({ seq }) => seq >= from)
    found = adoptionIn(since, address) ?? found
    if (frames.length < limit) break
    next = (frames.at(-1)?.seq ?? next) + 1
  }
  return found
}

/** The last one in these commits. @throws RuntimeError corrupt_at */
export const adoptionIn = (frames: readonly Frame[], address: Address): Adoption | undefined => {
  let found: Adoption | undefined
  for (const frame of frames) {
    const { adopts, seq } = commitOf(frame, address)
    if (adopts) found = { ...adopts, seq }
  }
  return found
}

/** Of the machine that it belongs to after a commit; nothing where there is no journal. @throws RuntimeError corrupt_at */
export const recordedSignature = async (journal: Journal, address: Address, to = Number.POSITIVE_INFINITY): Promise<string | undefined> => {
  const [first] = await journal.read(address, 1, { limit: 1 })
  if (first?.seq !== 1) return undefined
  return (await newestAdoption(journal, address, 2, to))?.signature ?? commitOf(first, address).create?.signature
}

/** What another machine has recorded: nothing of it may get lost in this one, be done again, or be left out. */
export class AdoptedPast {
  readonly #name: string
  readonly #states: Record<ActorPath, unknown> = {}
  /** Something that this machine has no place for. */
  #lost: RuntimeError | undefined

  constructor(name: string) {
    this.#name = name
  }

  /** @param replica as it is before the input */
  take(input: Input, seq: number, replica: Replica): void {
    if (this.#lost || replica.expects(input)) return
    const from = 'timer' in input ? `timer ${input.timer}` : 'from' in input ? input.from : `${input.to} ${input.event.type}`
    this.#lost = new RuntimeError(
      'drift',
      `what ${this.#name} took from ${from} in commit ${seq} would get lost: this machine expects nothing there`,
      {
        hint: 'adopt it with a machine that does what was done, in the same order, and goes another way after that',
        data: { seq, from },
      },
    )
  }

  pass({ states }: Commit): void {
    Object.assign(this.#states, states)
  }

  /** @param replica as it is after all of it @throws RuntimeError drift */
  check(replica: Replica): void {
    if (this.#lost) throw this.#lost
    const present = replica.states()
    for (const [path, recorded] of Object.entries(this.#states)) {
      const here = present[path]
      // What had ended need not be there.
      if (here === undefined ? path !== '/' && recorded !== 'active' : holds(here, recorded)) continue
      const actor = path === '/' ? this.#name : `${this.#name} ${path}`
      throw new RuntimeError('drift', `${actor} is in ${shown(recorded)}, and what was recorded leads this machine to ${shown(here)}`, {
        hint: 'adopt it with a machine that comes to the same state, and goes another way after that',
        data: { path, recorded, present: here ?? null },
      })
    }
  }
}

/** Whether a state is the other one, perhaps beside new regions. */
const holds = (present: unknown, recorded: unknown): boolean => {
  if (typeof recorded !== 'object' || recorded === null) return present === recorded
  if (typeof present !== 'object' || present === null) return false
  return Object.entries(recorded).every(([region, state]) => holds((present as Record<string, unknown>)[region], state))
}

const shown = (state: unknown): string => (state === undefined ? 'no state of its own' : JSON.stringify(state))
