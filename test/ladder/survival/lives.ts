/** A scenario that is lived through once without a crash, and again with one: what came of it, what it left in the journals, and what was done for it in which life. */
import type { Transport } from '../../../src/contracts/transport.ts'
import { ladder } from '../../../src/ladder/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { type TestRuntime, type TestStore, testRuntime, type VirtualClock } from '../../../src/testing/index.ts'
import { createMemoryStore, openMemory } from '../../../src/transport/memory/index.ts'
import { type Left, leftBy, nameOf, plain, undated, type Written } from './left.ts'
import { type Deed, played, type Scenario, type Story } from './scenario.ts'

/** Where runs are kept, for one test. */
export type Place = { store: TestStore; clock?: VirtualClock; prefix?: string; gone(): Promise<void> }

export const inMemory = (): Place => {
  const store = createMemoryStore()
  return { store: { open: (environment) => openMemory({ environment, store }), crash: () => store.crash() }, gone: async () => undefined }
}

/** `append` dies with the commit before it is written, `acknowledgement` behind it, before anybody is told. */
export type Death = { commit: number; before: 'append' | 'acknowledgement' }

export type Told = Left & {
  result: unknown
  /** Of the first life and, where that one ended early, of the second. */
  deeds: [Deed[], Deed[]]
}

/** @returns undefined where there are not so many commits */
export const livedThrough = async (scenario: Scenario, place: Place, death?: Death): Promise<Told | undefined> => {
  const { clock, prefix, store } = place
  const deeds: Told['deeds'] = [[], []]
  const storyOf = (life: 0 | 1): Story => scenario.made((what, name) => void deeds[life].push({ what, name: undated(name) }))
  const optionsOf = ({ executables, models = {}, extensions = [] }: Story) => ({ extensions: [ladder({ executables }), ...extensions], models })
  const first = storyOf(0)
  const dying = mortal(store)
  try {
    await using kit = await testRuntime({ ...optionsOf(first), store: dying.store, ...(clock && { clock }), ...(prefix && { prefix }) })
    dying.dieAt(death)
    const playing = played(first, stageOf(kit))
    playing.catch(() => undefined)
    const end = await kit.clock.until(Promise.race([dying.died.then(() => 'died' as const), playing.then(() => 'ended' as const)]))
    dying.dieAt(undefined)
    if (end === 'ended' && death) return undefined
    if (end === 'ended') return await judged(kit, first, { result: await playing, deeds, heads: undefined })
    await kit.crash()
    const heads = await headsOf(dying.store, kit, prefix)
    const second = storyOf(1)
    await kit.restart(optionsOf(second))
    const result = await kit.clock.until(played(second, stageOf(kit)))
    return await judged(kit, second, { result, deeds, heads })
  } finally {
    await place.gone()
  }
}

const stageOf = ({ runtime }: TestRuntime) => ({ runtime, clock: partsOf(runtime).environment.clock })

/** A store whose process dies with a commit, once that was said. */
const mortal = (store: TestStore) => {
  const died = Promise.withResolvers<void>()
  let due: Death | undefined
  const die = (): Promise<never> => (died.resolve(), new Promise(() => undefined))
  const open: TestStore['open'] = async (...given) => {
    const transport = await store.open(...given)
    const append: Transport['journal']['append'] = async (...values) => {
      const dies = due !== undefined && --due.commit === 0 ? due.before : undefined
      if (dies === 'append') return die()
      const appended = await transport.journal.append(...values)
      return dies === undefined ? appended : die()
    }
    const journal = new Proxy(transport.journal, {
      get(target, name) {
        const value: unknown = name === 'append' ? append : Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    return { ...transport, journal }
  }
  const dieAt = (death: Death | undefined): void => {
    due = death && { ...death }
  }
  return { store: { open, crash: () => store.crash() }, died: died.promise, dieAt }
}

type Heads = Record<string, number>

/** How far each journal goes, while no process is there. */
const headsOf = async (store: TestStore, { clock, failPoints, log: _ }: TestRuntime, prefix: string | undefined): Promise<Heads> => {
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
  const ids = { next: (kind: string) => `${kind}-reader` }
  const transport = await store.open({ clock, failPoints, log, ids, random: { next: () => 0.5 } }, prefix)
  const heads = await transport.journal.list()
  await store.crash()
  return Object.fromEntries(heads.map(({ address, seq }) => [nameOf(address), seq]))
}

const judged = async (
  kit: TestRuntime,
  story: Story,
  { result, deeds, heads }: Pick<Told, 'result' | 'deeds'> & { heads: Heads | undefined },
): Promise<Told> => {
  await kit.clock.settle()
  const lifeOf = ({ name, seq }: Written): 0 | 1 => (heads && seq > (heads[name] ?? 0) ? 1 : 0)
  return { result: plain(result), deeds, ...(await leftBy(kit.runtime, story, lifeOf)) }
}
