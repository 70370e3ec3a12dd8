/** What `send` tells whoever calls it: scripts go by its exit code. */
import { expect, test } from 'vitest'
import { aFolder, aNode, statecast, stopped, testApp } from './run.ts'

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
    if (node) await stopped(node)
  },
)
