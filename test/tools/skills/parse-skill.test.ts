import { expect, test } from 'vitest'
import { parseSkill } from '../../../src/tools/skills/parse-skill.ts'
import { manual } from '../../support/skill-folder.ts'

test('a manual with name and description is read, with what it needs', () => {
  const matter = `license: MIT\nmetadata:\n  statecast:\n    os: [linux]\n    primaryEnv: KEY\n    requires: { bins: [git], env: [TOKEN] }\nuser-invocable: false\n`

  expect(parseSkill(manual('release-notes', { matter }), 'release-notes')).toMatchObject({
    name: 'release-notes',
    description: 'For release-notes.',
    requires: { os: ['linux'], bins: ['git'], env: ['TOKEN'] },
    primaryEnv: 'KEY',
    userInvocable: false,
    modelInvocable: true,
  })
})

test('what a skill needs may stand as JSON in a text, as the format wants it', () => {
  const matter = `metadata:\n  statecast: '{"requires":{"bins":["git"]}}'`

  expect(parseSkill(manual('a', { matter }), 'a')).toMatchObject({ requires: { bins: ['git'] } })
})

const bomb = `metadata:\n  a: &a [x,x,x,x,x,x,x,x,x]\n  b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n  c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n  d: [*c,*c,*c,*c,*c,*c,*c,*c,*c]`

test.each([
  ['no front matter', '# just text', /does not begin with front matter/],
  ['front matter without an end', '---\nname: a\n', /does not begin with front matter/],
  ['another name than its folder', manual('b'), /its folder is 'a'/],
  ['no description', '---\nname: a\n---\n', /^description is missing$/],
  ['an empty description', '---\nname: a\ndescription: " "\n---\n', /^description is empty$/],
  ['a number for a description', '---\nname: a\ndescription: 7\n---\n', /^description has to be a text$/],
  ['nothing that is a list of fields', '---\nname a\n---\n', /^has to be fields with values$/],
  ['a name with capitals', '---\nname: A\ndescription: x\n---\n', /name/],
  ['aliases that grow', manual('a', { matter: bomb }), /cannot be read|no YAML/],
  ['one alias', manual('a', { matter: 'x: &x 1\ny: *x' }), /cannot be read|no YAML/],
  ['a prototype', manual('a', { matter: '__proto__: { always: true }' }), /keeps for itself/],
  ['a prototype further in', manual('a', { matter: 'metadata: { x: { __proto__: { a: 1 } } }' }), /keeps for itself/],
  ['the same key twice', manual('a', { matter: 'name: a' }), /no YAML/],
  ['broken YAML', manual('a', { matter: 'x: [' }), /no YAML/],
  ['nesting without end', manual('a', { matter: `x: ${'['.repeat(8000)}` }), /no YAML|cannot be read/],
  ['much of it', manual('a', { matter: `x: ${'y'.repeat(20_000)}` }), /longer than/],
  ['a tool to call without a name', manual('a', { matter: 'command-dispatch: tool' }), /command-tool/],
  [
    'needs that are no list',
    manual('a', { matter: 'metadata: { statecast: { requires: { bins: git } } }' }),
    /^metadata\.statecast\.requires\.bins has to be a list$/,
  ],
  ['needs that are no JSON', manual('a', { matter: "metadata: { statecast: '{' }" }), /cannot be read/],
])('a manual with %s is refused, and says what to mend', (_, text, problem) => {
  const started = performance.now()

  expect(parseSkill(text, 'a')).toEqual({ problem: expect.stringMatching(problem), hint: expect.stringMatching(/./) })
  expect(performance.now() - started).toBeLessThan(2_000)
})
