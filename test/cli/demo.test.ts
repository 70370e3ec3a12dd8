import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { repository } from '../tidy/sources.ts'

test('[SHOW-DEMO] the demo shows and checks the main job without a key, and ends by itself in under a minute', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(repository, 'scripts/demo.ts')], { timeout: 55_000 })

  for (const shown of ['391', 'In short', 'kill -9', '2 cups of coffee', 'identical', 'awaiting_input', 'All of this was checked'])
    expect(stdout).toContain(shown)
})
