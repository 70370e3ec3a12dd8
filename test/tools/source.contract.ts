/** What every source of tools promises to the bench of an agent. */
import { describe, expect, test } from 'vitest'
import type { Tool } from '../../src/contracts/tool.ts'
import { createTools } from '../../src/tools/registry.ts'
import type { ToolSource } from '../../src/tools/source.ts'
import { anEnvironment } from '../transport/harness.ts'
import { aContext, aTool, plan } from './fixtures.ts'

/**
 * A source with two tools, each of which repeats the `text` it is given, and what may be done to it.
 * @property names what models call them, in order @property other a name that could be of this source and is not
 */
export type SourceUnderTest = {
  source: ToolSource
  names: [string, string]
  other: string
  until<Result>(promise: Promise<Result>): Promise<Result>
  /** Ends what offers the tools; resolves when the source knows. */
  end(): Promise<void>
}

export const describeSource = (name: string, open: () => Promise<SourceUnderTest>): void => {
  describe(`a source of tools: ${name}`, () => {
    const benchOf = async (own: Tool[] = []) => {
      const under = await open()
      const { clock } = anEnvironment()
      return { ...under, tools: createTools(own, { clock, sources: [under.source] }) }
    }

    test('its tools are there after the first look, in the order of names, with where they come from', async () => {
      const { tools, names, until } = await benchOf()
      await until(tools.discover?.() ?? Promise.resolve())

      expect(tools.names).toEqual(names)
      expect(tools.describe().map((one) => one.name)).toEqual(names)
      expect(names.map((one) => tools.get(one)?.source)).toEqual(names.map(() => expect.stringMatching(/^(?:service|mcp):\w+$/)))
    })

    test('the same tools are the same objects at each look, so that a prompt stays as it is', async () => {
      const { tools, names, source, until } = await benchOf()
      await until(tools.discover?.() ?? Promise.resolve())
      const first = names.map((one) => tools.get(one))
      await until(source.ready())

      expect(names.map((one) => tools.get(one))).toEqual(first)
    })

    test('a call is planned, checked and run like any other', async () => {
      const { tools, names, until } = await benchOf()
      await until(tools.discover?.() ?? Promise.resolve())

      const output = await until(tools.run(plan(tools, names[0], { text: 'hello' }), aContext()))

      expect(JSON.stringify(output)).toContain('hello')
      expect(plan(tools, names[0], { text: 7 })).toMatchObject({ problem: { code: 'tool_input' } })
    })

    test("an agent's own tool of the same name wins, and the others stay", async () => {
      const under = await open()
      const own = aTool(() => 'own', { name: under.names[0] })
      const { clock } = anEnvironment()
      const tools = createTools([own], { clock, sources: [under.source] })
      await under.until(tools.discover?.() ?? Promise.resolve())

      expect(tools.names).toEqual(under.names)
      expect(await under.until(tools.run(plan(tools, under.names[0], {}), aContext()))).toBe('own')
    })

    test('a call that another process has planned is looked for, and one of a tool that is nowhere may be asked again', async () => {
      const { tools, names, other, until } = await benchOf()
      const planned = {
        callId: 'c',
        name: names[0],
        input: { text: 'hello' },
        inputHash: '',
        needsApproval: false,
        onCrash: 'once',
        timeoutMs: 5_000,
        attemptMax: 1,
      } as const

      expect(JSON.stringify(await until(tools.run(planned, aContext())))).toContain('hello')
      await expect(until(tools.run({ ...planned, name: other }, aContext()))).rejects.toMatchObject({
        code: 'tool_unknown',
        retryable: true,
        hint: expect.any(String),
      })
    })

    test('without it there are no tools of it, and nothing throws', async () => {
      const { tools, source, until, end } = await benchOf()
      await until(tools.discover?.() ?? Promise.resolve())

      await end()

      expect(tools.names).toEqual([])
      await until(Promise.all([source.ready(), source.look()]))
    })
  })
}
