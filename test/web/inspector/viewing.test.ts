/** The chart of the inspector's page: what it looks at, and when it goes along. */
import { expect, test } from 'vitest'
import { createActor, fromCallback, fromPromise } from 'xstate'
import type { Looked } from '../../../web/inspector/src/fold/protocol.ts'
import type { LookInput, Subject, ViewingEvent } from '../../../web/inspector/src/viewing/viewing.context.ts'
import { viewingMachine } from '../../../web/inspector/src/viewing/viewing.machine.ts'

const subject = { kind: 'session', id: 'main' }
type Pending = LookInput & { done(): void; fail(error: Error): void; signal: AbortSignal }

const aPage = () => {
  const reads: number[] = []
  const looks: Pending[] = []
  const opened: (Subject | undefined)[] = []
  const actor = createActor(
    viewingMachine.provide({
      actions: { openFirst: (_, { first }) => void opened.push(first) },
      actors: {
        read: fromCallback<ViewingEvent, { subject: Subject; from: number }>(({ input }) => void reads.push(input.from)),
        look: fromPromise<Looked, LookInput>(
          ({ input, signal }) =>
            new Promise((resolve, reject) => {
              const before = input.before === undefined ? undefined : { seq: input.before }
              looks.push({ ...input, signal, fail: reject, done: () => resolve({ seq: input.seq, before } as Looked) })
            }),
        ),
      },
    }),
  ).start()
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  const finish = async () => {
    looks.at(-1)?.done()
    await settled()
  }
  const is = (value: Parameters<ReturnType<typeof actor.getSnapshot>['matches']>[0]) => actor.getSnapshot().matches(value)
  return {
    actor,
    reads,
    looks,
    opened,
    finish,
    settled,
    is,
    seq: () => actor.getSnapshot().context.seq,
    looked: () => actor.getSnapshot().context.looked?.seq,
  }
}

test('it goes along with the head until somebody steps away; what is new is counted then', async () => {
  const page = aPage()
  page.actor.send({ type: 'open', subject, seq: undefined })
  page.actor.send({ type: 'grown', head: 5 })
  await page.finish()
  expect([page.seq(), page.looked(), page.reads]).toEqual([5, 5, [1]])

  page.actor.send({ type: 'seek', seq: 2 })
  page.actor.send({ type: 'grown', head: 8 })
  expect(page.actor.getSnapshot().context).toMatchObject({ seq: 2, head: 8, fresh: 3 })
  expect(page.is({ place: 'standing' })).toBe(true)

  page.actor.send({ type: 'live' })
  expect(page.actor.getSnapshot().context).toMatchObject({ seq: 8, fresh: 0 })
})

test('scrubbing folds for the last position only, and a look that is overtaken by new commits is shown and made again', async () => {
  const page = aPage()
  page.actor.send({ type: 'open', subject, seq: undefined })
  page.actor.send({ type: 'grown', head: 100 })
  for (const seq of [40, 41, 42]) page.actor.send({ type: 'seek', seq })
  expect(page.looks.map(({ signal }) => signal.aborted)).toEqual([true, true, true, false])
  await page.finish()
  expect(page.looked()).toBe(42)

  page.actor.send({ type: 'live' })
  page.actor.send({ type: 'grown', head: 101 })
  page.looks.at(-1)?.done()
  await page.settled()
  expect(page.looked()).toBe(100)
  await page.finish()
  expect([page.looked(), page.is({ moment: 'shown' })]).toEqual([101, true])
})

test('a link opens its moment as soon as that has been read, or the head where there is no such moment', async () => {
  const page = aPage()
  page.actor.send({ type: 'open', subject, seq: 7 })
  page.actor.send({ type: 'grown', head: 5 })
  expect(page.looks).toEqual([])
  page.actor.send({ type: 'grown', head: 10 })
  expect(page.looks.map(({ seq, before }) => [seq, before])).toEqual([[7, 6]])

  const other = aPage()
  other.actor.send({ type: 'open', subject, seq: 70 })
  other.actor.send({ type: 'grown', head: 5 })
  other.actor.send({ type: 'read' })
  expect(other.seq()).toBe(5)
})

test('without a connection what is known stays, and the journal is read on from there', () => {
  const page = aPage()
  page.actor.send({ type: 'open', subject, seq: undefined })
  page.actor.send({ type: 'grown', head: 5 })
  page.actor.send({ type: 'disconnected' })
  expect(page.seq()).toBe(5)
  page.actor.send({ type: 'connected' })
  expect(page.reads).toEqual([1, 6])
})

test('where the journal is damaged the moment before is shown; a moment that cannot be folded says why', async () => {
  const page = aPage()
  const error = { code: 'corrupt_at' as const, message: 'the chain breaks', retryable: false }
  page.actor.send({ type: 'open', subject, seq: 9 })
  page.actor.send({ type: 'grown', head: 8 })
  page.actor.send({ type: 'corrupt', seq: 9, error })
  expect(page.seq()).toBe(8)
  page.looks.at(-1)?.fail(new Error('drift'))
  await page.settled()
  expect(page.is({ moment: 'failed' })).toBe(true)
  expect(page.actor.getSnapshot().context.error?.message).toBe('drift')
})

test('another moment to compare with is folded when somebody wants it', async () => {
  const page = aPage()
  page.actor.send({ type: 'open', subject, seq: 9 })
  page.actor.send({ type: 'grown', head: 9 })
  await page.finish()
  page.actor.send({ type: 'compare', with: 3 })
  expect(page.looks.at(-1)).toMatchObject({ seq: 9, before: 3 })
  await page.finish()
  page.actor.send({ type: 'compare', with: undefined })
  page.actor.send({ type: 'seek', seq: 8 })
  expect(page.looks.at(-1)).toMatchObject({ seq: 8, before: undefined })
})

test('a commit that was pinned is compared with others of its journal, and not with those of another', async () => {
  const page = aPage()
  page.actor.send({ type: 'open', subject, seq: undefined })
  page.actor.send({ type: 'grown', head: 5 })
  page.actor.send({ type: 'compare', with: 4 })
  await page.finish()
  page.actor.send({ type: 'open', subject: { kind: 'session', id: 'other' }, seq: undefined })
  expect(page.actor.getSnapshot().context.compares).toBe('before')
})

test('where there is nothing at all, the first session that comes is opened; where there is a choice, somebody chooses', () => {
  const page = aPage()
  page.actor.send({ type: 'listed', first: undefined, isEmpty: true })
  page.actor.send({ type: 'listed', first: undefined, isEmpty: true })
  page.actor.send({ type: 'listed', first: subject, isEmpty: false })
  page.actor.send({ type: 'listed', first: { kind: 'session', id: 'next' }, isEmpty: false })
  expect(page.opened).toEqual([subject])

  for (const first of [subject, undefined]) {
    const other = aPage()
    other.actor.send({ type: 'listed', first, isEmpty: false })
    other.actor.send({ type: 'listed', first: subject, isEmpty: false })
    expect([other.opened, other.is({ journal: { none: 'choosing' } })]).toEqual([[], true])
  }
})
