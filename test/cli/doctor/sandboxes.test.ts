import { expect, test } from 'vitest'
import { sandboxes } from '../../../src/cli/doctor/sandboxes.ts'
import { agent } from '../../../src/index.ts'

const findings = async (...agents: ReturnType<typeof agent>[]) => {
  const all = []
  for await (const finding of sandboxes({ agents })) all.push(finding)
  return all
}

test('[CH-98] the doctor says which sandbox there is, and whose commands have none', async () => {
  const [machine, ...others] = await findings(
    agent({ name: 'reader', bench: {} }),
    agent({ name: 'free', bench: { shell: true, sandbox: 'off' } }),
    agent({ name: 'kept', bench: { shell: true, sandbox: 'podman' } }),
  )

  expect(machine).toMatchObject({ check: 'sandbox', status: 'ok', message: expect.stringMatching(/bwrap: .*; podman: .*; docker: /) })
  expect(others).toContainEqual(expect.objectContaining({ status: 'warn', message: expect.stringContaining("'free'") }))
  const works = machine?.message.includes('podman: works')
  expect(others.filter(({ message }) => message.includes("'kept'"))).toEqual(
    works ? [] : [expect.objectContaining({ status: 'bad', hint: expect.stringMatching(/\S/) })],
  )
})
