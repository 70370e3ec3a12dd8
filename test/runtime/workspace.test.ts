import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createRuntime } from '../../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'statecast-workspace-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'file')
writeFileSync(file, '')

test.each([
  ['that is not there', join(folder, 'missing'), /cannot be used: ENOENT/],
  ['that is a file', file, /is not a folder/],
  ['whose path cannot be one', 'a\0b', /cannot be used/],
])('a workspace %s is refused when the runtime is made, not when a tool looks into it', async (_, workspace, message) => {
  await expect(createRuntime({ transport: 'memory:', workspace })).rejects.toMatchObject({
    code: 'bad_request',
    field: 'workspace',
    message: expect.stringMatching(message),
    hint: expect.stringContaining('mkdir -p'),
  })
})

test('one that is there is taken', async () => {
  await using runtime = await createRuntime({ transport: 'memory:', workspace: folder })

  expect((await runtime.health()).ready).toBe(true)
})
