/** A tree that is followed: from where it is, however far it gets away, and in each of its lives. */
import { afterEach, expect, test, vi } from 'vitest'
import type { InspectionMessage } from '../../../src/contracts/inspection-protocol.ts'
import { createRuntime, type Runtime } from '../../../src/index.ts'
import { partsOf, TreeFollower } from '../../../src/runtime/index.ts'
import { line, machines } from './orders.ts'

const running: Runtime[] = []
const following: TreeFollower[] = []
afterEach(async () => {
  for (const follower of following.splice(0)) follower.stop()
  await Promise.all(running.splice(0).map((runtime) => runtime.close()))
})

const aNode = async () => {
  const runtime = await createRuntime({ transport: 'memory:', machines })
  running.push(runtime)
  const { transport, outputs, host, directory } = partsOf(runtime)
  const note = (text: unknown) => runtime.actor('order', 'o1', { payment: 'p' }).send({ type: 'note', text })
  const remove = () => directory.forget({ kind: 'order', id: 'o1' })
  /** @param taken what the reader waits for */
  const follow = (taken: () => Promise<void> = async () => undefined) => {
    const told: InspectionMessage[] = []
    const failed = vi.fn()
    const tell = async (messages: InspectionMessage[]) => {
      told.push(...messages)
      await taken()
    }
    const { journal } = transport
    const follower = new TreeFollower(
      { journal, growth: outputs.growth, registration: (kind) => host.registration(kind) },
      { kind: 'order', id: 'o1' },
      { tell, failed },
    )
    following.push(follower)
    return { follower, told, failed, lines: () => told.map(line) }
  }
  return { runtime, transport, note, remove, follow }
}

test('one that is told slowly is told the tree as it is, where too much has happened meanwhile', async () => {
  const { note, follow } = await aNode()
  await note(0)
  const gate = Promise.withResolvers<void>()
  const { follower, lines } = follow(() => gate.promise)
  follower.start(1)
  await vi.waitFor(() => expect(lines()).toHaveLength(1))
  for (let count = 2; count <= 700; count++) {
    await note(count)
    follower.grew(count)
  }
  expect(lines()).toEqual(['order/o1 began below nobody as "waiting"'])
  gate.resolve()
  await vi.waitFor(() => expect(lines()).toHaveLength(2))
  await note('last')
  follower.grew(701)
  await vi.waitFor(() => expect(lines().at(-1)).toContain('is active'))

  expect(lines().slice(1, 3)).toEqual(['order/o1 began below nobody as "waiting"', 'order/o1 commit 701'])
})

test('a word that comes late changes nothing, and one that was deleted is told from its beginning when it begins anew', async () => {
  const { note, remove, follow } = await aNode()
  for (let count = 1; count <= 5; count++) await note(count)
  const { follower, told, lines } = follow()
  follower.start(5)
  await vi.waitFor(() => expect(lines()).toHaveLength(1))
  follower.grew(3)
  await note('six')
  follower.grew(6)
  await vi.waitFor(() => expect(lines().at(-1)).toContain('is active'))
  expect(lines().filter((one) => one.includes('commit'))).toEqual(['order/o1 commit 6'])

  await remove()
  follower.grew(0)
  await note('another life')
  follower.grew(1)
  await vi.waitFor(() => expect(lines()).toContain('order/o1 commit 1'))

  expect(lines().filter((one) => one.includes('commit'))).toEqual(['order/o1 commit 6', 'order/o1 commit 1'])
  await vi.waitFor(() => expect(told.at(-1)).toMatchObject({ snapshot: { context: { note: 'another life' } } }))
})

test('where the journal cannot be read it says so once, and tells nothing more', async () => {
  const { note, transport, follow } = await aNode()
  await note(1)
  const { follower, failed, told } = follow()
  vi.spyOn(transport.journal, 'read').mockRejectedValue(new Error('torn'))
  follower.start(1)
  await vi.waitFor(() => expect(failed).toHaveBeenCalledOnce())
  follower.grew(2)
  await note(2)

  expect(failed).toHaveBeenCalledOnce()
  expect(told).toEqual([])
})
