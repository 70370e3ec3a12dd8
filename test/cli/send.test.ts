/** What `send` tells whoever calls it: scripts go by its exit code. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder, aNode, statecast, stopNode, testApp } from './run.ts'

const ways = ['without a node', 'through a node'] as const

test.each(ways)(
  'a turn that fails ends `send` with exit code 1, its error on stderr and nothing on stdout; the next one is answered: %s',
  async (how) => {
    const folder = aFolder()
    const node = how === 'through a node' ? await aNode({ folder }, '--app', testApp) : undefined
    const send = (...args: string[]) => statecast({ folder }, 'send', 'main', ...args, ...(node ? [] : ['--app', testApp]))

    const failed = await send('fail')
    const json = await send('fail', '--json')
    const fine = await send('hello')

    expect({ code: failed.code, stdout: failed.stdout }).toEqual({ code: 1, stdout: '' })
    expect(failed.stderr).toMatch(/^error: .*\[provider_auth\]$/m)
    // It says so once: the log of its own process would say the same as JSON.
    expect(failed.stderr).not.toContain('{')
    expect(json.code).toBe(1)
    expect(json.lines.map((line) => (JSON.parse(line) as { type?: string }).type)).toContain('error')
    expect(fine).toMatchObject({ code: 0, stdout: 'echo hello\n' })
    if (node) await stopNode(node)
  },
)

test('`send` obeys an order as the chat does, and none of it goes to the model', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', testApp)
  const running = statecast({ folder }, 'send', 'main', 'wait here')
  await expect.poll(() => existsSync(join(folder, 'here.started')), { timeout: 60_000 }).toBe(true)

  const stop = await statecast({ folder }, 'send', 'main', '/stop')
  const ended = await running
  const again = await statecast({ folder }, 'send', 'main', '/stop', '--json')
  const thinking = await statecast({ folder }, 'send', 'main', '/think high hello')

  expect(stop).toMatchObject({ code: 0, stderr: '' })
  expect(stop.stdout).toMatch(/stopped/i)
  expect(ended.code).toBe(1)
  expect(again.lines.map((line) => JSON.parse(line) as object).at(-1)).toMatchObject({ type: 'final', text: 'Nothing is running.', steps: 0 })
  expect(thinking).toMatchObject({ code: 0, stdout: 'echo hello\n' })
  const history = (await statecast({ folder }, 'history', 'main')).stdout
  expect(history).not.toContain('/stop')
  expect(history).toContain('› /think high hello')
  await stopNode(node)
})

test('what is no order goes to the model as it stands', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', testApp)

  for (const text of ['stop', '/etc/passwd holds what?', 'why does /stop stop a turn?'])
    expect(await statecast({ folder }, 'send', 'main', text)).toMatchObject({ code: 0, stdout: `echo ${text}\n` })
  await stopNode(node)
})

test('`history` shows no thoughts in tags, nor does its JSON; the trace has them', async () => {
  const folder = aFolder()
  await statecast({ folder }, 'send', 'main', '<think>secretly</think>I agree', '--app', testApp)

  const shown = await statecast({ folder }, 'history', 'main', '--app', testApp)
  const json = await statecast({ folder }, 'history', 'main', '--json', '--app', testApp)

  expect(shown.lines).toEqual(['› <think>secretly</think>I agree', 'I agree'])
  expect(json.lines.map((line) => (JSON.parse(line) as { text: string }).text)).toEqual(['<think>secretly</think>I agree', 'I agree'])
  expect((await statecast({ folder }, 'trace', 'main', '--json', '--app', testApp)).stdout).toContain('<think>secretly</think>I agree')
})
