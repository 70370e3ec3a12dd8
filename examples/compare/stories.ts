/** What happens to each program: once calmly, then killed and started again. What became of it is read from what was done to the world. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Program, start, type Told } from './process.ts'

type Deed = { what: string; job?: string; key?: string; saw?: string[] }

export type Outcome = {
  /** What it came to, as JSON. */
  data: unknown
  deeds: Deed[]
  /** It went on as soon as its process was there again, with nobody who told it what to go on with. */
  byItself?: boolean
}

const nameOf = ({ what, job }: Deed): string => (job === undefined ? what : `model ${job}`)

/** How often each thing was done. */
export const counted = (deeds: readonly Deed[]): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const deed of deeds) counts.set(nameOf(deed), (counts.get(nameOf(deed)) ?? 0) + 1)
  return counts
}

/** What was done more often than in a calm run, with how many times more. */
export const again = (calm: Outcome, killed: Outcome): string[] => {
  const before = counted(calm.deeds)
  return [...counted(killed.deeds)].flatMap(([name, count]) => {
    const more = count - (before.get(name) ?? 0)
    return more > 0 ? [more > 1 ? `${name} ×${more}` : name] : []
  })
}

const inFolder = async (story: (folder: string) => Promise<Omit<Outcome, 'deeds'>>): Promise<Outcome> => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-compare-'))
  try {
    const outcome = await story(folder)
    const lines = readFileSync(join(folder, 'world.jsonl'), 'utf8').trim().split('\n')
    return { ...outcome, deeds: lines.map((line) => JSON.parse(line) as Deed) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Its process is there again; where that is not enough, somebody says what to go on with. */
const goOn = async (program: Program, folder: string, from?: number): Promise<{ told: Told; byItself: boolean }> => {
  const booted = await start(program, folder, 'boot')
  if (booted.state !== 'nothing') return { told: booted, byItself: true }
  return { told: await start(program, folder, 'resume', from === undefined ? {} : { from }), byItself: false }
}

const done = ({ state, data }: Told): unknown => {
  if (state !== 'done') throw new Error(`it is ${state}: ${JSON.stringify(data)}`)
  return data
}

export const order = {
  calm: (program: Program) =>
    inFolder(async (folder) => {
      const { state, data } = await start(program, folder, 'begin')
      if (state !== 'waiting') throw new Error(`it should wait for a person, and is ${state}: ${JSON.stringify(data)}`)
      return { data: done(await start(program, folder, 'approve')) }
    }),
  /** Between the first attempt to charge and the second one. */
  afterChecks: (program: Program) =>
    inFolder(async (folder) => {
      await start(program, folder, 'begin', { hold: 'charge' })
      const { byItself, told } = await goOn(program, folder)
      if (told.state !== 'waiting') throw new Error(`it should wait for a person, and is ${told.state}: ${JSON.stringify(told.data)}`)
      return { byItself, data: done(await start(program, folder, 'approve')) }
    }),
  /** The parcel is on its way, and nobody has written that down. */
  whileItShips: (program: Program) =>
    inFolder(async (folder) => {
      await start(program, folder, 'begin')
      await start(program, folder, 'approve', { hold: 'ship' })
      const { byItself, told } = await goOn(program, folder)
      return { byItself, data: done(told) }
    }),
}

export const desk = {
  calm: (program: Program) => inFolder(async (folder) => ({ data: done(await start(program, folder, 'begin')) })),
  /** One specialist still works; the two others have answered. */
  whileOneWorks: (program: Program) =>
    inFolder(async (folder) => {
      await start(program, folder, 'begin', { hold: 'law' })
      const { byItself, told } = await goOn(program, folder)
      return { byItself, data: done(told) }
    }),
}

const turns = 8
const cutOff = 3

export const session = {
  calm: (program: Program) => inFolder(async (folder) => ({ data: done(await start(program, folder, 'begin')) })),
  inTheThirdTurn: (program: Program) =>
    inFolder(async (folder) => {
      await start(program, folder, 'begin', { hold: `chat: message ${cutOff}` })
      const booted = await start(program, folder, 'boot')
      const byItself = booted.state !== 'nothing'
      return { byItself, data: done(await start(program, folder, 'resume', { from: byItself ? cutOff + 1 : cutOff })) }
    }),
}

/** What the model was told in the turn after the one that was cut off, and in the last one. */
export const told = ({ deeds }: Outcome): { after: readonly string[]; last: readonly string[] } => {
  const seen = (turn: number) => deeds.findLast(({ job, saw = [] }) => job === 'chat' && saw.at(-1)?.endsWith(`message ${turn}`))?.saw ?? []
  return { after: seen(cutOff + 1), last: seen(turns) }
}
