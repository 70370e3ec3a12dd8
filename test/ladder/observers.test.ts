/** Observers, who get the report of each run that has ended. */
import { afterEach, expect, test } from 'vitest'
import { agent, type Report, type Result, setLadderObservers, supervisor, workflow } from '../../src/ladder/index.ts'
import { aLadder, aLadderOf, killedAt } from './a-ladder.ts'

afterEach(() => setLadderObservers([]))

const words = ({ type, name, status, runId }: Report): string => `${type} ${name} ${status} ${runId}`

test('[WL-009] one that throws disturbs neither the run nor the others, and is warned of once', async () => {
  const seen: string[] = []
  const broken = () => {
    throw new Error('no ink')
  }
  const late = { report: () => Promise.reject(new Error('no paper')) }
  const write = workflow({ name: 'write', observe: true, steps: [{ name: 'one', run: () => 1 }] })
  setLadderObservers([broken, late, (report) => seen.push(words(report))])
  await using kit = await aLadder(write)

  expect(await kit.clock.until(write.execute({}, { runId: 'a' }))).toMatchObject({ data: 1 })
  expect(await kit.clock.until(write.execute({}, { runId: 'b' }))).toMatchObject({ data: 1 })
  await kit.runtime.settled(1_000)

  expect(seen).toEqual(['workflow write completed a', 'workflow write completed b'])
  const warned = kit.log.filter(({ level, message }) => level === 'warn' && message?.includes('observer'))
  expect(warned.map(({ fields }) => (fields as { error?: string }).error)).toEqual(['no ink', 'no paper'])
})

test('[WL-009] a definition says who observes: those of the process, nobody, or one; where it says nothing, the default of the process counts, for runs that stand alone', async () => {
  const [all, own]: [string[], string[]] = [[], []]
  const observed = (name: string, observe?: boolean | ((report: Report) => void)) =>
    workflow({ name, steps: [{ name: 'one', run: () => 1 }], ...(observe !== undefined && { observe }) })
  const made = [observed('yes', true), observed('no', false), observed('own', (report) => void own.push(words(report))), observed('unset')]
  const outer = workflow({ name: 'outer', steps: made.map((agent, index) => ({ name: `step${index}`, agent })) })
  await using kit = await aLadder(...made, outer)
  const each = async () => {
    for (const one of [...made, outer]) await kit.clock.until(one.execute({}))
    await kit.runtime.settled(1_000)
    return [all, own].map((list) => list.splice(0).map((line) => line.split(' ')[1]))
  }

  setLadderObservers([(report) => all.push(words(report))])
  expect(await each()).toEqual([
    ['yes', 'yes'],
    ['own', 'own'],
  ])
  setLadderObservers([(report) => all.push(words(report))], { byDefault: true })
  expect(await each()).toEqual([
    ['yes', 'unset', 'yes', 'outer'],
    ['own', 'own'],
  ])
})

test('[WL-009, WL-006] however a run of any rung ends, its report is told; the same report that its caller gets', async () => {
  const seen: Report[] = []
  const observe = (report: Report) => void seen.push(report)
  const writer = agent({ name: 'writer', model: 'test/a', observe })
  const boss = supervisor({ name: 'boss', intents: { writer }, route: () => 'writer', maxIterations: 1, observe })
  const slow = workflow({ name: 'slow', steps: [{ name: 'rest', waitFor: 'go' }], observe })
  await using kit = await aLadderOf({ 'test/a': () => ({ error: { code: 'provider_auth', message: 'who?' } }) }, writer, boss, slow)

  const results: Result<unknown>[] = [await kit.clock.until(writer.execute('go')), await kit.clock.until(boss.execute('go'))]
  results.push(await kit.clock.until(slow.execute('go', { signal: AbortSignal.abort('enough') })))
  await kit.runtime.settled(1_000)

  expect(seen.map(({ type, status }) => `${type} ${status}`)).toEqual([
    'agent failed',
    'agent failed',
    'supervisor max-iterations',
    'workflow cancelled',
  ])
  expect([seen[0], seen[2], seen[3]]).toEqual(results.map(({ report }) => report))
})

test('[WL-009] killed at any commit a run is told of, and once where nothing was killed', async () => {
  const seen: string[] = []
  const write = workflow({ name: 'write', observe: (report) => void seen.push(words(report)), steps: [{ name: 'one', run: () => 1 }] })
  await using kit = await aLadder(write)
  await kit.clock.until(write.execute({}, { runId: 'r' }))
  await kit.clock.until(write.execute({}, { runId: 'r' }))
  await kit.runtime.settled(1_000)
  expect(seen).toEqual(['workflow write completed r'])
  const { seq } = await kit.runtime.actor('write', 'r').snapshot()

  for (let commit = 1; commit <= seq; commit++) {
    seen.length = 0
    await using doomed = await aLadder(write)
    await killedAt(doomed, () => write.execute({}, { runId: 'r' }), commit)
    await doomed.runtime.settled(1_000)
    expect(new Set(seen), `killed at commit ${commit}`).toEqual(new Set(['workflow write completed r']))
    expect(seen.length, `killed at commit ${commit}`).toBeLessThanOrEqual(2)
  }
})

test('[WL-009] what cannot observe is said where it is written', () => {
  for (const observe of [1, null, { see: () => undefined }])
    expect(() => workflow({ name: 'a', steps: [{ name: 'one', run: () => 1 }], observe: observe as never })).toThrow(
      expect.objectContaining({ code: 'LADDER_CONFIG' }),
    )
})
