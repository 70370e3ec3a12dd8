/** What the queue does when its store cannot write down what became of a message. */
import { expect, test } from 'vitest'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import { failuresMax, inboxQueue } from '../../src/transport/inbox-queue.ts'
import type { InboxStore } from '../../src/transport/inbox-store.ts'
import { anEnvironment, bytesOf } from './harness.ts'

test('a message that was handled is never put aside because nobody could write that down, however often', async () => {
  const clock = virtualClock()
  const environment = anEnvironment({ clock })
  const buried: string[] = []
  let refused = 0
  const store: InboxStore = {
    put: async () => 1,
    done: async () => {
      if (refused++ < 2 * failuresMax) throw new RuntimeError('log_unavailable', 'the link to the server broke', { retryable: true })
    },
    postpone: async () => undefined,
    bury: async (_, reason) => void buried.push(reason),
    waiting: () => [],
    data: () => bytesOf('{}'),
    dead: async () => [],
  }
  const queue = inboxQueue(store, () => environment)
  let done = false
  queue.consume(
    'in.>',
    async (delivery) => {
      await delivery.ack()
      done = true
    },
    queue,
  )

  await queue.put('in.one', 'm1', bytesOf('{}'))
  await clock.until(() => done)

  expect(buried).toEqual([])
  expect(environment.lines.map(({ level, message }) => `${level} ${message}`)).toEqual(
    Array(2 * failuresMax).fill('warn what became of a message could not be written down: it comes again'),
  )
})
