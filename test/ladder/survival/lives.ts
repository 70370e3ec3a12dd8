/** A scenario that is lived through once without a crash, and again with one: what came of it, what it left in the journals, and what was done for it in which life. */
import type { Transport } from '../../../src/contracts/transport.ts'
import type { Runtime } from '../../../src/index.ts'
import { ladder } from '../../../src/ladder/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { type TestRuntime, type TestStore, testRuntime, type VirtualClock } from '../../../src/testing/index.ts'
import { createMemoryStore, openMemory } from '../../../src/transport/memory/index.ts'
import { timeless } from '../a-ladder.ts'
import type { Deed, Scenario, Story } from './scenario.ts'

/** Where runs are kept, for one test. */
export type Place = { store: TestStore; clock?: VirtualClock; prefix?: string; gone(): Promise<void> }

export const inMemory = (): Place => {
  const store = createMemoryStore()
  return { store: { open: (environment) => openMemory({ environment, store }), crash: () => store.crash() }, gone: async () => undefined }
}

/** `append` dies with the commit before it is written, `acknowledgement` behind it, before anybody is told. */
export type Death = { commit: number; before: 'append' | 'acknowledgement' }

export type Told = {
  result: unknown
  /** Of each actor of each root what it has taken in, and by whom it was taken up again left out. */
  trace: Record<string, string[]>
  /** Of the first life and, where that one ended early, of the second. */
  deeds: [Deed[], Deed[]]
  /** What came of deeds and is written down, by the life that wrote it. */
  written: [Deed['what'][], Deed['what'][]]
  /** Of all journals. */
  commits: number
  verdicts: Record<string, string>
}

/** @returns undefined where there are not so many commits */
export const livedThrough = async (scenario: Scenario, place: Place, death?: Death): Promise<Told | undefined> => {
  const { clock, prefix, store } = place
  const deeds: Told['deeds'] = [[], []]
  const storyOf = (life: 0 | 1): Story => scenario.made((what, name) => void deeds[life].push({ what, name }))
  const optionsOf = ({ executables, models = {}, extensions = [] }: Story) => ({ extensions: [ladder({ executables }), ...extensions], models })
  const first = storyOf(0)
  const dying = mortal(store)
  try {
    await using kit = await testRuntime({ ...optionsOf(first), store: dying.store, ...(clock && { clock }), ...(prefix && { prefix }) })
    if (death?.before === 'append') dying.at(death.commit)
    if (death?.before === 'acknowledgement') kit.failPoints.call('K02', dying.die, death.commit)
    const playing = first.play(stageOf(kit))
    playing.catch(() => undefined)
    const end = await kit.clock.until(Promise.race([dying.died.then(() => 'died' as const), playing.then(() => 'ended' as const)]))
    dying.at(0)
    if (end === 'ended' && death) return undefined
    if (end === 'ended') return await judged(kit, first, { result: await playing, deeds, heads: undefined })
    await kit.crash()
    const heads = await headsOf(dying.store, kit, prefix)
    const second = storyOf(1)
    await kit.restart(optionsOf(second))
    const result = await kit.clock.until(second.play(stageOf(kit)))
    return await judged(kit, second, { result, deeds, heads })
  } finally {
    await place.gone()
  }
}

const stageOf = ({ runtime }: TestRuntime) => ({ runtime, clock: partsOf(runtime).environment.clock })

/** A store whose process dies with a commit, `at` the one that is never sent. */
const mortal = (store: TestStore) => {
  const died = Promise.withResolvers<void>()
  const die = (): Promise<void> => (died.resolve(), new Promise(() => undefined))
  let left = 0
  const open: TestStore['open'] = async (...given) => {
    const transport = await store.open(...given)
    const journal = new Proxy(transport.journal, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (name !== 'append') return typeof value === 'function' ? value.bind(target) : value
        return (...values: Parameters<Transport['journal']['append']>) => (left > 0 && --left === 0 ? die() : target.append(...values))
      },
    })
    return { ...transport, journal }
  }
  return { store: { open, crash: () => store.crash() }, died: died.promise, die, at: (commit: number) => void (left = commit) }
}

type Heads = Record<string, number>
const nameOf = ({ kind, id }: { kind: string; id: string }): string => `${kind} ${id}`

/** How far each journal goes, while no process is there. */
const headsOf = async (store: TestStore, { clock, failPoints, log: _ }: TestRuntime, prefix: string | undefined): Promise<Heads> => {
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
  const ids = { next: (kind: string) => `${kind}-reader` }
  const transport = await store.open({ clock, failPoints, log, ids, random: { next: () => 0.5 } }, prefix)
  const heads = await transport.journal.list()
  await store.crash()
  return Object.fromEntries(heads.map(({ address, seq }) => [nameOf(address), seq]))
}

const isWhat = (actor: string, { effects }: Story): Deed['what'] | undefined =>
  /\/model#\d+$/.test(actor) ? 'model' : effects?.test(actor) ? 'code' : undefined

const judged = async (
  kit: TestRuntime,
  story: Story,
  { result, deeds, heads }: Pick<Told, 'result' | 'deeds'> & { heads: Heads | undefined },
): Promise<Told> => {
  await kit.clock.settle()
  return { result: plain(result), deeds, ...(await leftBy(kit.runtime, story, heads)) }
}

/** What stands in the journals. @param heads how far those went when the first life ended, if it ended before its time */
export const leftBy = async (runtime: Runtime, story: Story, heads: Heads | undefined): Promise<Omit<Told, 'result' | 'deeds'>> => {
  const trace: Told['trace'] = {}
  const written: Told['written'] = [[], []]
  const verdicts: Told['verdicts'] = {}
  let commits = 0
  for (const { address, seq } of await partsOf(runtime).transport.journal.list()) {
    const name = nameOf(address)
    commits += seq
    verdicts[name] = (await runtime.replay(address)).verdict
    const entries: [string, string][] = []
    for await (const { actor, event, seq: at } of runtime.trace(address)) {
      if (/^(?:claimed|taken over) by /.test(event)) continue
      const what = event === 'resolved' ? isWhat(actor, story) : undefined
      if (what) written[heads && at > (heads[name] ?? 0) ? 1 : 0].push(what)
      entries.push([actor, event])
    }
    if (story.compares?.(address.kind, address.id) === false) continue
    // Whoever asks again after a crash asks the same.
    for (const [actor, event] of entries) if (event !== 'execute') (trace[undated(`${name} ${actor}`)] ??= []).push(event)
  }
  return { trace, written, commits, verdicts }
}

const undated = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then')
const plain = (value: unknown): unknown => JSON.parse(undated(JSON.stringify(timeless(value))))
