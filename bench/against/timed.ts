/** CPU time and allocation of turns, slice by slice, as a child process of `bench/against.ts` measures them. */
import { serve } from '../child.ts'
import { allocatedBytes, cpuMicroseconds } from './meter.ts'
import { allocateMore, burnMore, type Plant } from './plant.ts'
import { openTree, type Started } from './tree.ts'
import { type Timed, type Work, works } from './works.ts'

/** @property store where the runtime on disk puts its data; the folder does not exist yet */
export type TimedOptions = { root: string; store: string; channel: boolean; plant?: Plant | undefined }
export type TimedInput = { open: TimedOptions } | { slice: Work } | { close: true }

let sessions = 0
const newSession = (): string => `s${String(sessions++).padStart(8, '0')}`

/** What a turn defers to the next rounds of the event loop belongs to its cost. */
const settle = async (): Promise<void> => {
  for (let round = 0; round < 2; round++) await new Promise((resolve) => setImmediate(resolve))
}

const measure = async (turns: number, doTurns: () => Promise<unknown>, plant: Plant | undefined): Promise<Timed> => {
  // Reading the heap costs CPU time itself, so it stands outside.
  const bytesBefore = allocatedBytes()
  const cpuBefore = cpuMicroseconds()
  await doTurns()
  await settle()
  if (plant?.kinds.includes('cpu')) burnMore(cpuBefore, plant.share)
  const cpu = cpuMicroseconds() - cpuBefore
  if (plant?.kinds.includes('allocation')) allocateMore(bytesBefore, plant.share)
  return { cpu: cpu / turns, allocated: (allocatedBytes() - bytesBefore) / turns }
}

const sliceOf = async (started: Started, work: Work, plant: Plant | undefined): Promise<Timed[]> => {
  const { message, ...how } = works[work]
  const all: Timed[] = []
  const together = 'sessions' in how ? Array.from({ length: how.sessions }, newSession) : []
  const inTurn = async (turns: number): Promise<void> => {
    const session = newSession()
    for (let index = 0; index < turns; index++) await started.turn(session, message)
  }
  for (let index = 0; index < how.slices; index++)
    all.push(
      'sessions' in how
        ? await measure(how.sessions, () => Promise.all(together.map((session) => started.turn(session, message))), plant)
        : await measure(how.turns, () => inTurn(how.turns), plant),
    )
  globalThis.gc?.({ type: 'minor' })
  return all
}

const open = async ({ root, store, channel, plant }: TimedOptions) => {
  const tree = await openTree(root)
  const started = {
    memory: await tree.start({ transport: 'memory:', channel }),
    disk: await tree.start({ transport: `embedded:${store}`, channel }),
  }
  return {
    slice: (work: Work) => sliceOf(started[works[work].where], work, plant),
    close: () => Promise.all([started.memory.close(), started.disk.close()]),
  }
}

let opened: Awaited<ReturnType<typeof open>> | undefined

serve<TimedInput>(async (input) => {
  if ('open' in input) opened = await open(input.open)
  else if ('slice' in input) return opened?.slice(input.slice)
  else await opened?.close()
  return undefined
})
