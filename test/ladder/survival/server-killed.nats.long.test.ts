/** The NATS server itself is killed (`kill -9`) in the middle of a run, and started again: the run goes on when it is back. One run covers half of the scenarios. */
import { beforeAll, expect, test } from 'vitest'
import { natsServer } from '../../../scripts/nats-server.ts'
import type { Logger } from '../../../src/contracts/environment.ts'
import { createRuntime } from '../../../src/index.ts'
import { ladder } from '../../../src/ladder/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { seeded } from '../../crash/runs.ts'
import { natsFetchMs, startNats } from '../../support/nats.ts'
import { chooseSeeds } from '../../support/seeds.ts'
import { choosePart } from '../../support/share.ts'
import { careful } from './agents.ts'
import { leftBy, plain } from './left.ts'
import { inMemory, livedThrough, type Told } from './lives.ts'
import { planned } from './planners.ts'
import { type Deed, played, type Scenario } from './scenario.ts'
import { session } from './sessions.ts'
import { desk } from './supervisors.ts'
import { expectSameEnd } from './sweep.ts'
import { shop } from './workflows.ts'

beforeAll(() => natsServer(), natsFetchMs)

const { seed } = chooseSeeds(import.meta.url)
/** At most so many do something at once, and each outage may cut them off. */
const atOnceMax = 3

/** Resolves when that was logged for the `times`-th time. */
const listening = () => {
  const waiting: { text: string; left: number; resolve: () => void }[] = []
  const hear = (_: object, message = ''): void => {
    for (const one of waiting) if (message.includes(one.text) && --one.left === 0) one.resolve()
  }
  const log: Logger = { debug: hear, info: hear, warn: hear, error: hear }
  const said = (text: string, times: number) => new Promise<void>((resolve) => void waiting.push({ text, left: times, resolve }))
  return { log, said }
}

/** How long it is away: until the node has noticed, or until its word would have expired, which it gives each second and which counts for three. */
const outages = {
  'for a moment': ['the link to NATS is down', 1],
  'for so long that nodes count as gone': ['could not say that it is here', 4],
} as const

const told: readonly [Scenario, keyof typeof outages][] = [
  [shop, 'for a moment'],
  [desk, 'for a moment'],
  [session, 'for a moment'],
  [careful, 'for a moment'],
  [planned, 'for a moment'],
  [shop, 'for so long that nodes count as gone'],
  [session, 'for so long that nodes count as gone'],
]

const part = choosePart(import.meta.url, 2)
const chosen = told.map(([scenario, outage], place) => ({ name: scenario.name, scenario, outage, place })).filter(({ place }) => part.includes(place))

test.concurrent.for(chosen)(
  `[WL-101, WL-113, WL-125, WL-083] $name: the server is killed twice and away $outage, and the run comes to the same report and trace (seed ${seed})`,
  { timeout: 600_000 },
  async ({ scenario, outage, place }, { onTestFinished }) => {
    // It syncs each write: what it has acknowledged outlives it.
    const server = await startNats()
    onTestFinished(() => server.stop())
    const calm = (await livedThrough(scenario, inMemory())) as Told
    const random = seeded(seed + place)
    const half = Math.floor(calm.commits / 2)
    const at = [1 + Math.floor(random() * half), 1 + half + Math.floor(random() * (half - 1))]
    const deeds: Deed[] = []
    const { log, said } = listening()
    let commits = 0
    let down: Promise<void> = Promise.resolve()
    const fall = async (): Promise<void> => {
      await down
      const [text, times] = outages[outage]
      const noticed = said(text, times)
      await server.kill()
      await noticed
      const back = said('the link to NATS is up again', 1)
      await server.restart()
      await back
    }
    const story = scenario.made((what, name) => void deeds.push({ what, name }))
    const runtime = await createRuntime({
      transport: server.url,
      prefix: `fallen${place}`,
      extensions: [ladder({ executables: story.executables }), ...(story.extensions ?? [])],
      models: story.models ?? {},
      environment: {
        log,
        failPoints: {
          hit: (point) => {
            if (point === 'K02' && at.includes(++commits)) down = fall()
          },
        },
      },
    })
    const result = plain(await played(story, { runtime, clock: partsOf(runtime).environment.clock }))
    await down
    const left = await leftBy(runtime, story, () => 0)
    await runtime.close()

    const where = `killed at commits ${at.join(' and ')} of ${calm.commits}`
    expectSameEnd({ ...left, result, deeds: [deeds, []] }, calm, scenario, where)
    expect(commits, where).toBeGreaterThanOrEqual(at[1] as number)
    expect(deeds.length, `${where}: ${deeds.map(({ name }) => name).join()}`).toBeLessThanOrEqual(calm.deeds[0].length + at.length * atOnceMax)
  },
)
