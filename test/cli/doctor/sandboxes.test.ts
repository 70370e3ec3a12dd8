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

test('[CH-98] the doctor shows which mechanism enforces each limit of commands', async () => {
  const all = await findings(agent({ name: 'free', bench: { shell: true, sandbox: 'off' } }))

  const { message, rows = [] } = all.find(({ check, message }) => check === 'sandbox limits' && message.startsWith('off: ')) ?? {}
  expect(message).toMatch(/^off: \d enforced by the kernel, \d watched by the node, \d not enforced$/)
  expect(new Set(rows.map(({ limit }) => limit))).toEqual(
    new Set(['processes', 'memoryBytes', 'cpuMs', 'fileBytes', 'tmpBytes', 'timeoutMs', 'workspaceBytes', 'freeBytes']),
  )
  expect(rows).toContainEqual({
    limit: 'processes',
    value: 512,
    enforcement: expect.stringMatching(/^(?:kernel|watched|none)$/),
    by: expect.any(String),
  })
})
