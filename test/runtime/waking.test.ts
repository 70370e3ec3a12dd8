/** What a session that comes back into memory reads for its next turn, counted: time on a busy machine says nothing. */
import { expect, test, vi } from 'vitest'
import { partsOf } from '../../src/runtime/index.ts'
import type { ScriptedSource } from '../../src/testing/index.ts'
import { story } from './harness.ts'

const model: ScriptedSource = ({ messages, instructions }) => ({
  text: instructions.startsWith('You shorten') ? 'SUMMARY' : `saw ${messages.length}`,
})
const snapshotEvery = 50
/** Commits that are read at once of the end of a journal, see `src/machines/transcript/transcript.ts`. */
const lastPage = 64

test('after hundreds of turns: the commits since its snapshot, and of its conversation what a compaction has left', async () => {
  await using told = await story(model, { runtime: { limits: { snapshotEvery } } })
  for (let turn = 1; turn <= 200; turn++) {
    await told.clock.until((await told.say(`message ${turn}`)).result())
    if (turn % 20 !== 0) continue
    await told.clock.until(told.main.compact())
    await told.quiet()
  }
  const before = await told.transcript()
  const commits = await told.commits('main')
  await told.crash()
  await told.restart()
  const read = vi.spyOn(partsOf(told.runtime).transport.journal, 'read')

  const answer = await told.clock.until((await told.say('and now?')).result())

  const frames = (await Promise.all(read.mock.results.map(({ value }) => value as Promise<unknown[]>))).flat()
  expect(commits).toBeGreaterThan(400)
  expect(before.length).toBeLessThan(20)
  expect(answer.text).toBe(`saw ${before.length + 1}`)
  expect(frames.length).toBeLessThanOrEqual(snapshotEvery + lastPage)
  expect(await told.transcript()).toEqual([...before, 'user: and now?', `assistant: ${answer.text}`])
})
