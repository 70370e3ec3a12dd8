/** A fork of a long conversation: it costs what one of a short one does, and how much that is, is told. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { agent, createRuntime } from '../../src/index.ts'

test('a fork of 10,000 commits is made at once, and runs on', { timeout: 900_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-fork-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const runtime = await createRuntime({
    transport: `embedded:${folder}`,
    agents: [agent({ name: 'main', model: 'test/model' })],
    models: { 'test/model': ({ messages }) => ({ text: `I heard ${messages.length}` }) },
  })
  onTestFinished(() => runtime.close())
  const short = runtime.session('short')
  const long = runtime.session('long')
  await (await short.send('one')).result()
  // Begun anew now and then: a turn takes time with the length of its conversation. A turn is two commits, and that is one.
  for (let turn = 1; turn <= 4_995; turn++) {
    await (await long.send(`turn ${turn}`)).result()
    if (turn % 499 === 0) await long.reset()
  }
  const forked = async (id: string, as: string): Promise<number> => {
    const began = performance.now()
    await runtime.command('trace.fork', { id, as })
    return performance.now() - began
  }
  const took = { short: [] as number[], long: [] as number[] }
  for (let turn = 0; turn < 20; turn++) {
    took.short.push(await forked('short', `short-f${turn}`))
    took.long.push(await forked('long', `long-f${turn}`))
  }
  const { seq } = await runtime.command<{ seq: number }>('sessions.get', { sessionKey: 'long' })
  const began = performance.now()
  const answer = await (await runtime.session('long-f0').send('still there?')).result()

  const median = (all: number[]) => all.toSorted((a, b) => a - b)[10]?.toFixed(1)
  console.log(
    `a fork of ${seq} commits: ${median(took.long)} ms, at most ${Math.max(...took.long).toFixed(1)}; of few: ${median(took.short)} ms; its first answer after ${(performance.now() - began).toFixed(0)} ms`,
  )
  expect(seq).toBe(10_000)
  expect(answer.text).toBe('I heard 11')
  expect(await runtime.command('trace.replay', { id: 'long-f0' })).toMatchObject({ verdict: 'identical' })
})
