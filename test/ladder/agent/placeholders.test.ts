/** Values of one run for the `{{name}}` in the instructions of its agent, from callers, intents, steps and code. */
import assert from 'node:assert'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent, END, supervisor, workflow } from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const instructions = 'You write to {{customer}}, in {{ tone }} words. {{customer}} is right.'
const aWriter = () => agent({ name: 'writer', model: 'test/a', instructions })
/** A model that answers with what it is told to be. */
const echo = ({ instructions }: { instructions: string }) => ({ text: instructions })
const told = (customer: string, tone: string) => `You write to ${customer}, in ${tone} words. ${customer} is right.`

test('a caller fills in the instructions of one run; without values they stay as they are written', async () => {
  const writer = aWriter()
  await using kit = await aLadderOf({ 'test/a': echo }, writer)

  const run = writer.execute('hi', { runId: 'r', placeholders: { customer: '{{tone}} $& Ada', tone: 3 } })
  expect((await kit.clock.until(run)).data).toBe(told('{{tone}} $& Ada', '3'))
  expect((await kit.clock.until(writer.execute('hi'))).data).toBe(instructions)
  expect(await kit.runtime.replay({ kind: 'writer', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('[WL-085] an intent says what the instructions of its agent stand for, as values or as code; also where other code dispatches it', async () => {
  const writer = aWriter()
  const desk = supervisor({
    name: 'desk',
    input: z.string(),
    state: { customer: 'Ada', heard: [] as readonly string[] },
    intents: {
      fixed: { agent: writer, placeholders: { customer: 'Bob', tone: 'plain' } },
      late: { agent: writer, placeholders: ({ state, input }) => ({ customer: state.customer, tone: input }) },
      broken: { agent: writer, placeholders: () => ({ customer: 'Eve' }) },
      both: async ({ dispatch }) => {
        const [fixed, late, other] = await Promise.all([dispatch('fixed'), dispatch('late'), dispatch('late', 'few')])
        return { heard: [fixed.data, late.data, other.data] as string[] }
      },
    },
    route: ({ iteration }) => (iteration === 0 ? ['fixed', 'late', 'broken', 'both'] : END),
  })
  await using kit = await aLadderOf({ 'test/a': echo }, desk)

  const { data, report } = await kit.clock.until(desk.execute('kind', { runId: 'r' }))

  const broken = { status: 'failed', error: { code: 'SUPERVISOR_FAILED', message: expect.stringContaining("have no 'tone'") } }
  expect(report.iterations).toMatchObject([{ branches: { fixed: { output: told('Bob', 'plain') }, late: { output: told('Ada', 'kind') }, broken } }])
  expect(data?.heard).toEqual([told('Bob', 'plain'), told('Ada', 'kind'), told('Ada', 'few')])
  expect(await kit.runtime.replay({ kind: 'desk', id: 'r' })).toMatchObject({ verdict: 'identical' })
})

test('a step says it for its agent, and a run that is killed at any commit is told the same', async () => {
  const made = () => {
    const placeholders = ({ input, attempt }: { input: string; attempt: number }) => ({ customer: input, tone: attempt })
    return workflow({
      name: 'mail',
      input: z.string(),
      steps: [{ name: 'write', agent: aWriter(), placeholders }],
      output: ({ steps }) => steps.write?.output,
    })
  }
  const calm = made()
  await using kit = await aLadderOf({ 'test/a': echo }, calm)
  const whole = await kit.clock.until(calm.execute('Ada', { runId: 'r' }))
  expect(whole.data).toEqual(told('Ada', '1'))
  const { seq } = await kit.runtime.actor('mail', 'r').snapshot()
  for (let commit = 1; commit <= seq; commit++) {
    const mail = made()
    await using doomed = await aLadderOf({ 'test/a': echo }, mail)
    const end = await killedAt(doomed, () => mail.execute('Ada', { runId: 'r' }), commit)
    expect(timeless(end), `killed at commit ${commit}`).toEqual(timeless(whole))
  }
})

test('values are told apart from each other where code asks the same twice', async () => {
  const writer = aWriter()
  const mail = workflow({
    name: 'mail',
    steps: [
      {
        name: 'both',
        run: async () => {
          const ask = (customer: string) => writer.execute('hi', { placeholders: { customer, tone: 'kind' } })
          const answers = await Promise.all([ask('Ada'), ask('Bob')])
          return answers.map(({ data }) => data)
        },
      },
    ],
    output: ({ steps }) => steps.both?.output,
  })
  await using kit = await aLadderOf({ 'test/a': echo }, mail, writer)
  expect((await kit.clock.until(mail.execute('go'))).data).toEqual([told('Ada', 'kind'), told('Bob', 'kind')])
})

test('[WL-003] a name that is used again with other placeholders is refused; gone on with is a run with those that it was begun with', async () => {
  const writer = aWriter()
  await using kit = await aLadderOf({ 'test/a': echo }, writer)
  const write = (customer: string, tone: string | number) => kit.clock.until(writer.execute('hi', { runId: 'r', placeholders: { tone, customer } }))
  const conflict = { code: 'INPUT_CONFLICT', message: expect.stringContaining('other placeholders'), hint: expect.stringContaining('another runId') }

  expect((await write('Ada', 3)).data).toBe(told('Ada', '3'))
  expect((await write('Ada', '3')).data).toBe(told('Ada', '3'))
  await expect(write('Bob', 3)).rejects.toMatchObject(conflict)
  await expect(kit.clock.until(writer.execute('hi', { runId: 'r' }))).rejects.toMatchObject(conflict)
  await expect(kit.clock.until(writer.execute('ho', { runId: 'r' }))).rejects.toThrow('another input')
  await kit.crash()
  await kit.restart()
  await expect(write('Bob', 3)).rejects.toMatchObject(conflict)

  const others = { placeholders: { customer: 'Bob', tone: 3 } } as object
  await expect(kit.clock.until(writer.resume('r', others))).rejects.toThrow("has 'placeholders', which means nothing there")
  expect((await kit.clock.until(writer.resume('r'))).data).toBe(told('Ada', '3'))
})

test('[WL-085] what does not fit the instructions is said: where it is written, or before the model is asked', async () => {
  const writer = aWriter()
  const bare = agent({ name: 'bare', model: 'test/a' })
  await using kit = await aLadder(writer, bare)
  const wrong: [unknown, RegExp, RegExp?][] = [
    ['Ada', /placeholders of .* are 'Ada'/],
    [{ custmer: 'Ada', tone: 'kind' }, /have 'custmer', which the instructions .* do not/, /did you mean customer\?/],
    [{ customer: 'Ada' }, /have no 'tone'/, /customer, tone/],
    [{ customer: 'Ada', tone: undefined }, /have no 'tone'/],
    [{ customer: 'Ada', tone: { kind: true } }, /'tone' .* is an object/],
    [{ customer: 'Ada', tone: Number.NaN }, /'tone' .* is NaN/],
    [Object.defineProperty({ tone: 'kind' }, 'customer', { enumerable: true, get: () => assert.fail('boo') }), /'customer' .* cannot be read: boo/],
    [{ customer: 'Ada', tone: 'kind', constructor: 'x' }, /have 'constructor'/],
  ]
  for (const [placeholders, message, hint = /\S/] of wrong) {
    const refused = { message: expect.stringMatching(message), hint: expect.stringMatching(hint), category: 'validation' }
    const given = placeholders as never
    await expect(kit.clock.until(writer.execute('hi', { placeholders: given }))).rejects.toMatchObject({ code: 'LADDER_CONFIG', ...refused })
    const intents = { write: { agent: writer, placeholders: given } }
    expect(() => supervisor({ name: 'desk', intents, route: () => END })).toThrow(
      expect.objectContaining({ code: 'SUPERVISOR_CONFIG', message: expect.stringMatching(placeholders === 'Ada' ? /placeholders of/ : message) }),
    )
  }
  await expect(kit.clock.until(bare.execute('hi', { placeholders: { customer: 'Ada' } }))).rejects.toMatchObject({
    hint: expect.stringContaining('{{customer}}'),
  })
  const inner = workflow({ name: 'inner', steps: [{ name: 'a', run: () => 1 }] })
  const noAgent = expect.objectContaining({ message: expect.stringContaining('asks no agent') })
  expect(() => supervisor({ name: 'desk', intents: { a: { agent: inner, placeholders: {} } }, route: () => END })).toThrow(noAgent)
  expect(() => workflow({ name: 'outer', steps: [{ name: 'a', agent: inner, placeholders: () => ({}) }] })).toThrow(noAgent)
  expect(() => workflow({ name: 'outer', steps: [{ name: 'a', agent: writer, placeholders: { customer: 'Ada' } }] })).toThrow(
    expect.objectContaining({ code: 'WORKFLOW_ERROR', message: expect.stringContaining("have no 'tone'") }),
  )
})
