/** What the README shows a newcomer to copy does what it says. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

test('the code of the README runs as it stands and prints the answer of its own tool', async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const code = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? ''
  // Inside of the repository, so that zod is found; `statecast` is the source that the test is about.
  const folder = mkdtempSync(join(root, 'node_modules', '.readme-'))
  try {
    // As JavaScript: types are not stripped below node_modules, and the sample has none.
    writeFileSync(join(folder, 'main.mjs'), code.replaceAll("'statecast'", JSON.stringify(join(root, 'src/index.ts'))))

    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'main.mjs')], {
      cwd: folder,
      env: { ...process.env, STATECAST_MODEL: 'scripted/offline' },
    })

    expect(code).toContain('createRuntime')
    expect(stdout).toContain('add: 42')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
