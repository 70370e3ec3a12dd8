/** Recorded traces as test cases of an author. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createMachine } from 'xstate'
import { journalOf } from '../../src/client/index.ts'
import { defineApp, type RuntimeOptions } from '../../src/index.ts'
import { testRuntime, testTraces } from '../../src/testing/index.ts'
import { traceText } from '../support/trace-text.ts'

const lightTo = (next: string) =>
  createMachine({ id: 'light', initial: 'off', states: { off: { on: { toggle: next } }, on: { on: { toggle: 'off' } }, dim: {} } })
const app = defineApp({ machines: { light: lightTo('on') } })
const changed = defineApp({ machines: { light: lightTo('dim') } })

const aFolderOfTraces = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-traces-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  await using kit = await testRuntime({ machines: { light: lightTo('on') } })
  for (const id of ['hall', 'attic']) {
    await kit.runtime.actor('light', id).send({ type: 'toggle' })
    const frames = await journalOf({ command: (name, input) => kit.runtime.command(name, input) }, { kind: 'light', id }).read(
      { kind: 'light', id },
      1,
    )
    writeFileSync(join(folder, `${id}.trace`), traceText(`light/${id}`, frames))
  }
  return folder
}

/** What a test runner is told: cases by name. */
const casesOf = (path: string, options: RuntimeOptions) => {
  const cases = new Map<string, () => Promise<void>>()
  testTraces((name, run) => cases.set(name, run), path, options)
  return cases
}

test('a folder gives one case for each trace, which passes with the machines that recorded it', async () => {
  const folder = await aFolderOfTraces()

  const cases = casesOf(folder, app)

  expect([...cases.keys()]).toEqual(['attic', 'hall'].map((id) => `${join(folder, id)}.trace leads to the states that were recorded`))
  for (const run of cases.values()) await run()
})

test('a case fails with seq, actor, both states and what came in where a transition has changed', async () => {
  const folder = await aFolderOfTraces()
  const [run] = casesOf(join(folder, 'hall.trace'), changed).values()
  await expect(run?.()).rejects.toThrow('light/hall: commit 1, /: recorded on, now dim\non / created, / toggle')
})

test('no trace at all, one that is damaged and one of another kind of machine fail, each with what to do', async () => {
  const folder = await aFolderOfTraces()
  mkdirSync(join(folder, 'empty'))
  expect(() => casesOf(join(folder, 'empty'), app)).toThrow(/there is no trace in/)

  const [other] = casesOf(join(folder, 'hall.trace'), defineApp({})).values()
  await expect(other?.()).rejects.toThrow("no machine is registered as 'light'")
  writeFileSync(join(folder, 'hall.trace'), '{"statecast":"journal"')
  const [damaged] = casesOf(join(folder, 'hall.trace'), app).values()
  await expect(damaged?.()).rejects.toThrow('is not a complete export')
})
