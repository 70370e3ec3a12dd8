import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ToolLayer, toolLayers } from '../../src/contracts/tool-policy.ts'
import { benchOf, layersFor, layersOf } from '../../src/tools/policy.rules.ts'
import { casesOf } from '../support/property.ts'

const tools = [
  { name: 'now', category: 'basic' },
  { name: 'read_file', category: 'files' },
  { name: 'write_file', category: 'files' },
  { name: 'run_command', category: 'shell' },
  { name: 'crm__find', category: 'mcp' },
  { name: 'post', category: 'messaging' },
  { name: 'mine', category: 'plugin' },
] as const
const namesWith = (...layers: ToolLayer[]) => benchOf(tools, layers, 'openai/gpt-9').names

test('without rules there is all, in its order', () => {
  expect(benchOf(tools)).toEqual({ names: tools.map(({ name }) => name), removed: [], warnings: [] })
})

test.each(toolLayers)('a deny in the layer %s takes the tool away, whatever the others allow, and says so', (layer) => {
  const others = toolLayers.filter((other) => other !== layer).map((other): ToolLayer => ({ layer: other, allow: ['*'], alsoAllow: ['mine'] }))
  const { names, removed } = benchOf(tools, [...others, { layer, deny: ['mine'], alsoAllow: ['mine'] }])

  expect(names).not.toContain('mine')
  expect(removed).toEqual([{ name: 'mine', category: 'plugin', layer, why: `the rule ${layer} denies mine` }])
})

test('a name, a wildcard and a category may be allowed and denied', () => {
  expect(namesWith({ layer: 'agent', allow: ['group:files', 'crm__*', 'now'] })).toEqual(['now', 'read_file', 'write_file', 'crm__find'])
  expect(namesWith({ layer: 'agent', deny: ['*_file', 'group:shell'] })).toEqual(['now', 'crm__find', 'post', 'mine'])
  expect(namesWith({ layer: 'global', allow: ['*_file'] }, { layer: 'agent', allow: ['read*', 'now'] })).toEqual(['read_file'])
})

describe('an entry that is the name of nothing', () => {
  test('warns, and beside others it changes nothing', () => {
    const { names, warnings } = benchOf(tools, [{ layer: 'agent', allow: ['raed_file', 'now'] }])

    expect(names).toEqual(['now'])
    expect(warnings).toEqual(['raed_file, which the rule agent allows, is the name of no tool here'])
  })

  test('does not empty the bench where it stands alone', () => {
    const { names, warnings } = benchOf(tools, [{ layer: 'agent', allow: ['raed_file', 'group:nonsense'] }])

    expect(names).toHaveLength(tools.length)
    expect(warnings).toHaveLength(2)
  })

  test('is none where a category is named of which there is no tool just now', () => {
    expect(benchOf(tools, [{ layer: 'agent', allow: ['group:skills'] }])).toMatchObject({ names: [], warnings: [] })
  })

  test('is none in a list without entries: that one means nothing', () => {
    expect(namesWith({ layer: 'agent', allow: [] })).toEqual([])
    expect(namesWith({ layer: 'agent', deny: ['no_such_tool'] })).toHaveLength(tools.length)
  })
})

test('what is allowed besides widens its own list and the profile, and nobody else’s', () => {
  expect(namesWith({ layer: 'profile', of: 'minimal', allow: ['group:basic'] }, { layer: 'agent', alsoAllow: ['mine'] })).toEqual(['now', 'mine'])
  expect(namesWith({ layer: 'global', allow: ['now'] }, { layer: 'agent', alsoAllow: ['run_command'] })).toEqual(['now'])
  expect(namesWith({ layer: 'agent', allow: ['now'], alsoAllow: ['mine'] })).toEqual(['now', 'mine'])
})

test('a rule of a provider holds for its models alone', () => {
  const layers: ToolLayer[] = [
    { layer: 'provider', of: 'openai', deny: ['run_command'] },
    { layer: 'provider', of: 'ollama/*', deny: ['group:files'] },
    { layer: 'provider', of: 'openai/gpt-9*', deny: ['mine'] },
  ]

  expect(benchOf(tools, layers, 'openai/gpt-9').removed.map(({ name }) => name)).toEqual(['run_command', 'mine'])
  expect(benchOf(tools, layers, 'ollama/small').removed.map(({ name, of }) => [name, of])).toEqual([
    ['read_file', 'ollama/*'],
    ['write_file', 'ollama/*'],
  ])
})

test.each([
  ['minimal', ['now']],
  ['coding', ['now', 'read_file', 'write_file', 'run_command', 'crm__find']],
  ['messaging', ['now', 'post']],
  ['full', tools.map(({ name }) => name)],
] as const)('the profile %s begins with %j', (profile, names) => {
  expect(namesWith(...layersOf({ profile }, 'agent', false))).toEqual(names)
})

test('of the rules of a policy those go with a message that hold for where it came from', () => {
  const layers = layersOf(
    {
      deny: ['a'],
      channels: { telegram: { deny: ['b'] }, 'telegram/team-*': { deny: ['c'] }, 'slack/x': { deny: ['d'] } },
      groups: { deny: ['e'] },
      sandbox: { deny: ['f'] },
      subAgents: { deny: ['g'] },
      providers: { openai: { deny: ['h'] } },
    },
    'agent',
    true,
  )
  const denied = (...[key, origin]: [string, Parameters<typeof layersFor>[2]?]) => layersFor(layers, key, origin).flatMap(({ deny = [] }) => deny)

  expect(denied('main')).toEqual(['h', 'a', 'f'])
  expect(denied('main', { channel: 'telegram', to: 'alice' })).toEqual(['h', 'a', 'b', 'f'])
  expect(denied('main', { channel: 'telegram', to: 'team-9', chatType: 'group' })).toEqual(['h', 'a', 'b', 'c', 'e', 'f'])
  expect(denied('main', { channel: 'slack', to: 'x' })).toEqual(['h', 'a', 'd', 'f'])
  expect(denied('agent:main:sub-agent:17')).toEqual(['h', 'a', 'f', 'g'])
})

test('whatever the rules: no tool is invented or told twice, the order stays, and what one denies is gone', () => {
  const entry = fc.constantFrom('*', 'now', '*_file', 'group:files', 'group:mcp', 'mine', 'no_such', 'group:none')
  const list = fc.option(fc.array(entry, { maxLength: 4 }), { nil: undefined })
  const layer = fc.record({ layer: fc.constantFrom(...toolLayers), allow: list, deny: list, alsoAllow: list }) as fc.Arbitrary<ToolLayer>
  fc.assert(
    fc.property(fc.array(layer, { maxLength: 6 }), (layers) => {
      const { names, removed } = benchOf(tools, layers)
      const order = tools.map(({ name }) => name as string)
      expect([...names].sort((a, b) => order.indexOf(a) - order.indexOf(b))).toEqual(names)
      expect([...names, ...removed.map(({ name }) => name)].sort()).toEqual([...order].sort())
      for (const { deny = [] } of layers)
        for (const { name, category } of tools)
          if (deny.some((text) => text === '*' || text === name || text === `group:${category}`)) expect(names).not.toContain(name)
      expect(benchOf(tools, layers)).toEqual({ names, removed, warnings: expect.any(Array) })
    }),
    casesOf(import.meta.url),
  )
})
