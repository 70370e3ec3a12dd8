/** When folders of skills are watched. */
import { expect, test, vi } from 'vitest'
import { createRuntime } from '../../src/index.ts'
import { testRuntime } from '../../src/testing/index.ts'
import type { watchFolders } from '../../src/tools/skills/watch.ts'

const watched = vi.hoisted(() => vi.fn<(folders: readonly string[]) => void>())
vi.mock('../../src/tools/skills/watch.ts', async (original) => {
  const real = await original<{ watchFolders: typeof watchFolders }>()
  return {
    watchFolders: (...given: Parameters<typeof watchFolders>) => {
      watched(given[0])
      return real.watchFolders(...given)
    },
  }
})

test('[CH-57] a runtime whose time is simulated watches no folder, unless its skills are configured', async () => {
  watched.mockClear()

  await (await testRuntime()).close()
  expect(watched).not.toHaveBeenCalled()

  await (await testRuntime({ skills: {} })).close()
  expect(watched).toHaveBeenCalledOnce()
})

test('[CH-57] a runtime in the time of this machine watches the skills of its workspace', async () => {
  watched.mockClear()

  await (await createRuntime({ transport: 'memory:' })).close()

  expect(watched).toHaveBeenCalledWith(expect.arrayContaining([expect.stringMatching(/skills$/)]))
})
