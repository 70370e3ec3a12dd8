/** All stories of a folder once more, told in another way: what they expect has to come true there as well. */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, TestRunner, test } from 'vitest'
import { type Telling, tellLike } from '../../support/telling.ts'

/** A story that cannot come true in some telling, by a part of its name, with the reason. */
export type Exceptions = readonly (readonly [part: string, why: string])[]

export const because = (why: string, parts: readonly string[]): Exceptions => parts.map((part) => [part, why])

const folder = new URL('../', import.meta.url)
/** Those that choose for themselves where they take place. */
const apart = /^(?:sweep|same-trace\.nats)\.test\.ts$/
export const stories = readdirSync(folder).filter((name) => name.endsWith('.test.ts') && !apart.test(name))

/** One story in so many, always the same ones: the sample of `npm test`. `npm run test:long` tells all. */
export const oneIn =
  (many: number) =>
  (test: string): boolean =>
    numberOf(test) % many === 0

/** Some number that is always the same for the same text. */
export const numberOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE()

/** So that two processes share the work. */
export const aboutAnswers = /^(?:delivered|delivery|execution|heartbeat|lanes|shaping|typing|usage)\./

type Way = {
  /** What the describes of the same stories are told apart by. */
  name: string
  files?: readonly string[]
  exceptions?: Exceptions
  /** Which of the stories are told; default: all. */
  wanted?: (test: string) => boolean
  /** @param test the whole name of the story that begins */
  how: (test: string) => Telling
}

export const retell = ({ name, files = stories, exceptions = [], wanted = () => true, how }: Way): void => {
  const count = { stories: 0, told: 0, excepted: 0 }
  const unused = new Set(exceptions.map(([part]) => part))
  const isTold = (story: string): boolean => {
    const parts = exceptions.flatMap(([part]) => (story.includes(part) ? [part] : []))
    for (const part of parts) unused.delete(part)
    const told = parts.length === 0 && wanted(story)
    count.stories++
    if (parts.length > 0) count.excepted++
    if (told) count.told++
    return told
  }
  const ofFile = TestRunner.getCurrentSuite().tasks
  const before = ofFile.length
  describe.each(files)(`${name}: %s`, async (file) => {
    let story = ''
    let takeBack: () => void = () => undefined
    beforeAll(() => {
      takeBack = tellLike(() => how(story))
    })
    afterAll(() => takeBack())
    beforeEach(({ task }) => void (story = task.name))
    await import(/* @vite-ignore */ `${new URL(file, folder).pathname}?${encodeURIComponent(name)}`)
  })
  for (const task of ofFile.slice(before)) if (task.type === 'collector') registerOnly(task, isTold)

  test(`${name}: there are stories, and each exception names one`, () => {
    console.log(`${name}: tells ${count.told} of ${count.stories} stories; ${count.excepted} cannot come true in this telling`)
    expect(count.told).toBeGreaterThan(0)
    expect([...unused]).toEqual([])
  })
}

type Collector = ReturnType<typeof TestRunner.getCurrentSuite>

/** Leaves the other tests of a suite out of the run: as skipped tests they would hide what else is skipped. */
const registerOnly = (collector: Collector, isWanted: (test: string) => boolean): void => {
  const collect = collector.collect.bind(collector)
  collector.collect = async (file) => {
    const suite = await collect(file)
    keepOnly(suite, isWanted)
    return suite
  }
}

const keepOnly = (suite: Suite, isWanted: (test: string) => boolean): void => {
  suite.tasks = suite.tasks.filter((task) => {
    if (task.type === 'test') return isWanted(task.name)
    keepOnly(task, isWanted)
    return task.tasks.length > 0
  })
  // An empty suite that runs is an error.
  if (suite.tasks.length === 0) suite.mode = 'skip'
}

type Suite = Awaited<ReturnType<Collector['collect']>>
