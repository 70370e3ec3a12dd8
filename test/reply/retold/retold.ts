/** All stories of a folder once more, told in another way: what they expect has to come true there as well. */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { type Telling, tellLike } from '../../support/telling.ts'

/** A story that cannot come true in some telling, by a part of its name, with the reason. */
export type Exceptions = readonly (readonly [part: string, why: string])[]

export const because = (why: string, parts: readonly string[]): Exceptions => parts.map((part) => [part, why])

const folder = new URL('../', import.meta.url)
/** Those that choose for themselves where they take place. */
const apart = /^(?:sweep|same-trace\.nats)\.test\.ts$/
export const stories = readdirSync(folder).filter((name) => name.endsWith('.test.ts') && !apart.test(name))

/** One story in so many, always the same ones: what `npm test` tells again. `npm run test:long` tells all. */
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
  describe.each(files)(`${name}: %s`, async (file) => {
    let test = ''
    let takeBack: () => void = () => undefined
    beforeAll(() => {
      takeBack = tellLike(() => how(test))
    })
    afterAll(() => takeBack())
    beforeEach(({ task, skip }) => {
      test = task.name
      const exception = exceptions.find(([part]) => test.includes(part))
      if (exception) skip(exception[1])
      if (!wanted(test)) skip('another time')
    })
    await import(/* @vite-ignore */ `${new URL(file, folder).pathname}?${encodeURIComponent(name)}`)
  })
}
