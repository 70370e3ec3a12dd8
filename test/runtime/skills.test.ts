/** When folders of skills are watched. */
import fs, { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createRuntime } from '../../src/index.ts'
import { testRuntime } from '../../src/testing/index.ts'

let watch = vi.spyOn(fs, 'watch')
const watchedPaths = () => watch.mock.calls.map(([path]) => path)
beforeEach(() => {
  watch = vi.spyOn(fs, 'watch')
  // Named imports of a built-in module follow its object only after this.
  syncBuiltinESMExports()
})
afterEach(() => {
  watch.mockRestore()
  syncBuiltinESMExports()
})

test('[CH-57] a runtime whose time is simulated watches no folder, unless its skills are configured', async () => {
  await (await testRuntime()).close()
  expect(watchedPaths()).toEqual([])

  await (await testRuntime({ skills: {} })).close()
  expect(watchedPaths()).not.toEqual([])
})

test('[CH-57] a runtime in the time of this machine watches the skills of its workspace', async () => {
  const workspace = mkdtempSync(join(tmpdir(), 'statecast-skills-'))
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }))
  mkdirSync(join(workspace, 'skills'))

  await (await createRuntime({ transport: 'memory:', workspace })).close()

  expect(watchedPaths()).toContain(join(workspace, 'skills'))
})
