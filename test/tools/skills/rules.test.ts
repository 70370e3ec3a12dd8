import { expect, test } from 'vitest'
import { whyNot } from '../../../src/tools/skills/eligibility.rules.ts'
import { skillSection } from '../../../src/tools/skills/section.rules.ts'
import { commandIn, commandNames, intersection, nearestOf, usable } from '../../../src/tools/skills/selection.rules.ts'
import type { Requirements, Skill } from '../../../src/tools/skills/skill.ts'

const here = {
  platform: 'linux',
  hasBin: (name: string) => name === 'git',
  hasVariable: (name: string) => name === 'HOME',
  config: { a: { b: 1 } },
  enabled: true,
  bundled: ['x'],
}
const why = (requires: Requirements, changes: Partial<typeof here> = {}, kind: Skill['kind'] = 'workspace', name = 'x') =>
  whyNot({ name, kind, requires }, { ...here, ...changes })

test.each([
  ['asks for nothing', {}, undefined],
  ['finds its program', { bins: ['git'] }, undefined],
  ['lacks one of its programs', { bins: ['git', 'gh'] }, 'not on the PATH: gh'],
  ['finds one of several programs', { anyBins: ['gh', 'git'] }, undefined],
  ['finds none of several', { anyBins: ['gh', 'hub'] }, 'none of these is on the PATH: gh, hub'],
  ['lacks a variable', { env: ['HOME', 'TOKEN'] }, 'not set: TOKEN'],
  ['finds what is configured', { config: ['a.b'] }, undefined],
  ['lacks what is not configured', { config: ['a.c', 'a.b'] }, 'not on in skills.config: a.c'],
  ['is never taken in by a prototype', { config: ['constructor'] }, 'not on in skills.config: constructor'],
  [
    'lacks several things',
    { bins: ['gh'], anyBins: ['hub'], env: ['TOKEN'], config: ['c'] },
    'not on the PATH: gh; none of these is on the PATH: hub; not set: TOKEN; not on in skills.config: c',
  ],
  ['is for another system', { os: ['darwin'] }, 'it is for darwin, and this is linux'],
  ['is always there', { always: true, bins: ['gh'], env: ['TOKEN'] }, undefined],
  ['is always there, but not on another system', { always: true, os: ['darwin'] }, 'it is for darwin, and this is linux'],
])('[CH-56] a skill that %s', (_, requires: Requirements, answer) => {
  expect(why(requires)).toBe(answer)
})

test('[CH-56] one that is switched off, or bundled and not allowed, is not there even if it always is', () => {
  expect(why({ always: true }, { enabled: false })).toMatch(/switched off/)
  expect(why({ always: true }, {}, 'bundled', 'y')).toMatch(/skills\.bundled/)
  expect(why({}, {}, 'bundled', 'x')).toBeUndefined()
})

const skill = (name: string, more: Partial<Skill> = {}): Skill => ({
  name,
  description: `For ${name}.`,
  requires: {},
  modelInvocable: true,
  userInvocable: true,
  kind: 'workspace',
  folder: `/w/skills/${name}`,
  location: `skills/${name}/SKILL.md`,
  hash: '',
  eligible: true,
  command: name.replaceAll('-', '_'),
  ...more,
})

test('[CH-55] of one name the nearest is taken', () => {
  const found = [skill('b'), skill('a'), skill('b', { kind: 'bundled' })]
  expect(nearestOf(found)).toEqual([found[1], found[0]])
})

test('[CH-60] filters intersect: what is left out allows all, an empty one nothing', () => {
  expect(intersection(['a', 'b'], ['b', 'c'])).toEqual(['b'])
  expect(intersection(undefined, ['b', 'c'], undefined)).toEqual(['b', 'c'])
  expect(intersection(['a'], [])).toEqual([])
  expect(intersection(undefined, undefined)).toBeUndefined()
  expect(usable([skill('a'), skill('b'), skill('c', { eligible: false })], ['b', 'c']).map(({ name }) => name)).toEqual(['b'])
})

test('[CH-59] commands have at most 32 of a-z 0-9 _, and are numbered where a word is taken', () => {
  const long = `a${'-bc'.repeat(20)}`
  const names = commandNames(['git-hub', 'status', long, `${long}-x`, 'git--hub'], ['status'])

  expect(names).toEqual(['git_hub', 'status_2', names[2], names[3], 'git_hub_2'])
  expect(names[3]).toMatch(/_2$/)
  for (const name of names) expect(name).toMatch(/^[a-z0-9_]{1,32}$/)
  expect(new Set(names).size).toBe(5)
})

test('[CH-59] a command stands at the very beginning, and what follows is its argument', () => {
  const skills = [skill('git-hub'), skill('say', { commandTool: 'echo' }), skill('quiet', { command: undefined as never })]

  expect(commandIn('/git_hub  open\nissues', skills)).toEqual({ skill: 'git-hub', command: 'git_hub', args: 'open\nissues' })
  expect(commandIn(' /SAY: hello', skills)).toEqual({ skill: 'say', command: 'say', args: 'hello', tool: 'echo' })
  expect(commandIn('/say', skills)).toMatchObject({ args: '' })
  for (const text of ['/say/hello', 'say hello', 'please /say', '/saying', '/quiet', '//say']) expect(commandIn(text, skills)).toBeUndefined()
})

test('[CH-58] the section has a line for each skill, one text for the same skills, and an end', () => {
  const two = skillSection([skill('a', { description: 'One\n\n# two' }), skill('b')])
  expect(two?.text.split('\n').slice(-2)).toEqual(['- a: One # two (skills/a/SKILL.md)', '- b: For b. (skills/b/SKILL.md)'])
  expect(two?.items?.map(({ name }) => name)).toEqual(['a', 'b'])
  expect(skillSection([])).toBeUndefined()
  expect(skillSection([skill('a', { modelInvocable: false })])).toBeUndefined()

  const many = skillSection(Array.from({ length: 500 }, (_, index) => skill(`s${index}`, { description: 'x'.repeat(1000) })))
  expect(many?.text.length).toBeLessThan(40_000)
  expect(many?.text).toMatch(/There are also: .*s499\.$/)
})
