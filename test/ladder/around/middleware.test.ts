/** Middleware around the runs of workflows and supervisors, as agents have it. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { END, type LadderError, orchestrator, type RunMiddleware, supervisor, workflow } from '../../../src/ladder/index.ts'
import { aLadder, killedAt, timeless } from '../a-ladder.ts'

/** Says when it is passed. */
const noisy = (name: string, said: string[]): RunMiddleware => ({
  name,
  execute: {
    before: () => void said.push(`down ${name}`),
    after: (_, result) => void said.push(`up ${name} ${JSON.stringify(result)}`),
    onError: (_, { code }: LadderError) => void said.push(`failed ${name} ${code}`),
  },
})

type Around = { middleware: readonly RunMiddleware<any>[]; input?: z.ZodType<number> }
const nothing: { got: unknown } = { got: null }
const made = {
  workflow: ({ middleware, input }: Around, work: (input: unknown) => unknown) =>
    workflow({ name: 'letters', middleware, ...(input && { input }), steps: [{ name: 'one', run: ({ input: given }) => work(given) as never }] }),
  supervisor: ({ middleware, input }: Around, work: (input: unknown) => unknown) =>
    supervisor({
      name: 'letters',
      middleware,
      ...(input && { input }),
      state: nothing,
      intents: { one: async ({ input: given }) => ({ got: await work(given) }) },
      route: ({ iterations }) => (iterations.length === 0 ? 'one' : END),
      output: z.object({ got: z.unknown() }).transform(({ got }) => got),
    }),
} as const
type Kind = keyof typeof made
const kinds = Object.keys(made) as Kind[]
const failing = { workflow: 'STEP_FAILED', supervisor: 'SUPERVISOR_FAILED' } as const
const replays = { verdict: 'identical' }

test.each(kinds)('[WL-126] around a run of a %s: down from the first to the last, and up again; a replay asks none of it', async (kind) => {
  const said: string[] = []
  const letters = made[kind]({ middleware: [noisy('outer', said), noisy('inner', said)] }, () => 'done')
  await using kit = await aLadder(letters)

  expect(await kit.clock.until(letters.execute('go' as never, { runId: 'r' }))).toMatchObject({
    data: 'done',
    report: { type: kind, status: 'completed' },
  })
  const once = ['down outer', 'down inner', 'up inner "done"', 'up outer "done"']
  expect(said).toEqual(once)
  expect(await kit.runtime.replay({ kind: 'letters', id: 'r' })).toMatchObject(replays)
  expect(said).toEqual(once)
})

test.each(kinds)('[WL-126] in a %s, before may answer by itself, or give another input, which has to fit', async (kind) => {
  const got: unknown[] = []
  const said: string[] = []
  const inputs: unknown[] = []
  const letters = made[kind](
    {
      input: z.number(),
      middleware: [
        noisy('outer', said),
        {
          name: 'middle',
          execute: {
            before: ({ input }) => (input === 1 ? { result: 'known' } : { input: input === 2 ? 'two' : 33 }),
            after: ({ input }) => void inputs.push(input),
          },
        },
        noisy('inner', said),
      ],
    },
    (input) => (got.push(input), input),
  )
  await using kit = await aLadder(letters)
  const execute = (input: number) => kit.clock.until(letters.execute(input))

  expect(await execute(1)).toMatchObject({ data: 'known', report: { status: 'completed', children: [] } })
  expect(said).toEqual(['down outer', 'up outer "known"'])
  expect(await execute(2)).toMatchObject({ error: { code: 'SCHEMA_VALIDATION_FAILED' } })
  expect(await execute(3)).toMatchObject({ data: 33 })
  expect(got).toEqual([33])
  expect(inputs).toEqual([3])
})

test.each(kinds)(
  '[WL-126] what fails in a %s goes up through onError until one recovers; one that throws fails the run with its name',
  async (kind) => {
    const said: string[] = []
    const middleware = (recovers: boolean): RunMiddleware => ({
      name: 'mender',
      execute: { onError: () => (recovers ? { result: 'mended' } : undefined) },
    })
    const broken = (_: unknown) => {
      throw new Error('no')
    }
    const bare =
      kind === 'workflow' ? made.workflow : (around: Around) => supervisor({ name: 'letters', ...around, intents: { one: broken }, route: broken })
    const mended = bare({ middleware: [noisy('outer', said), middleware(true), noisy('inner', said)] }, broken)
    await using kit = await aLadder(mended)
    const { data, error, report } = await kit.clock.until(mended.execute(undefined as never, { runId: 'r' }))
    expect({ data, error, status: report.status }).toEqual({ data: 'mended', error: undefined, status: 'completed' })
    expect(said).toEqual(['down outer', 'down inner', `failed inner ${failing[kind]}`, 'up outer "mended"'])

    const thrower = made[kind]({ middleware: [{ name: 'thrower', execute: { after: broken } }] }, () => 'done')
    await using other = await aLadder(thrower)
    expect(await other.clock.until(thrower.execute(undefined as never))).toMatchObject({
      error: {
        code: kind === 'workflow' ? 'WORKFLOW_FAILED' : 'SUPERVISOR_FAILED',
        message: "after of the middleware 'thrower' threw: no",
        context: { middleware: 'thrower', hook: 'after' },
      },
      report: { status: 'failed' },
    })
  },
)

test.each(kinds)(
  '[WL-126] a run of a %s that is gone on with enters where it was not let in, and does nothing again where only code around it has failed',
  async (kind) => {
    let down = true
    let up = true
    let [entered, worked] = [0, 0]
    const letters = made[kind](
      {
        middleware: [
          {
            name: 'moody',
            state: { seen: 0 },
            execute: {
              before: ({ state }) => {
                entered++
                state.seen = entered
                if (down) throw new Error('not yet')
              },
              after: ({ state }, result) => {
                if (up) throw new Error('not yet')
                return { result: `${String(result)} ${state.seen}` }
              },
            },
          } as RunMiddleware<{ seen: number }>,
        ],
      },
      () => ++worked,
    )
    await using kit = await aLadder(letters)
    expect((await kit.clock.until(letters.execute(undefined as never, { runId: 'r' }))).report.status).toBe('failed')
    down = false
    expect((await kit.clock.until(letters.resume('r'))).report.status).toBe('failed')
    up = false
    expect(await kit.clock.until(letters.resume('r'))).toMatchObject({ data: '1 2', report: { status: 'completed' } })
    expect([entered, worked]).toEqual([2, 1])
    expect(await kit.runtime.replay({ kind: 'letters', id: 'r' })).toMatchObject(replays)
  },
)

test.each(kinds)('[WL-126] a %s is killed at any commit, and comes to the same', async (kind) => {
  const aRun = () =>
    made[kind](
      { middleware: [{ name: 'last', execute: { before: () => ({ input: 5 }), after: (_, result) => ({ result: `${String(result)}!` }) } }] },
      (input) => input,
    )
  const calm = aRun()
  await using kit = await aLadder(calm)
  const whole = await kit.clock.until(calm.execute(1, { runId: 'r' }))
  expect(whole).toMatchObject({ data: '5!' })
  for (let commit = 1; ; commit++) {
    const letters = aRun()
    await using doomed = await aLadder(letters)
    const result = await killedAt(doomed, () => letters.execute(1, { runId: 'r' }), commit)
    if (!result) {
      expect(commit).toBeGreaterThan(3)
      break
    }
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(whole))
    expect(await doomed.runtime.replay({ kind: 'letters', id: 'r' })).toMatchObject(replays)
  }
})

test.each(kinds)('[WL-126] a run of a %s that is cancelled is not recovered', async (kind) => {
  const begun = Promise.withResolvers<void>()
  const recover: RunMiddleware = { name: 'mender', execute: { onError: () => ({ result: 'mended' }) } }
  const letters = made[kind]({ middleware: [recover] }, () => (begun.resolve(), new Promise(() => undefined)))
  await using kit = await aLadder(letters)
  const run = letters.execute(undefined as never, { runId: 'r' })
  await kit.clock.until(begun.promise)
  await letters.cancel('r')
  expect((await kit.clock.until(run)).report.status).toBe('cancelled')
})

test('[WL-126] what is no middleware of these is said where it is written; without any, nothing about their charts is other', () => {
  const tripping = { name: 'tripping', trip: { before: () => undefined } } as never
  const steps = [{ name: 'one', run: () => undefined }]
  const code = { code: 'LADDER_CONFIG', hint: expect.stringContaining('execute') }
  expect(() => workflow({ name: 'letters', steps, middleware: [tripping] })).toThrow(expect.objectContaining(code))
  expect(() => supervisor({ name: 'letters', intents: { one: () => undefined }, route: () => 'one', middleware: [tripping] })).toThrow(
    expect.objectContaining(code),
  )
  const same = { name: 'a', execute: {} }
  expect(() => workflow({ name: 'letters', steps, middleware: [same, same] })).toThrow(/named 'a'/)
  expect(Object.keys(workflow({ name: 'letters', steps, middleware: [] }).machine.states)).not.toContain('entering')
  const turns = { name: 'desk', intents: { one: () => undefined }, route: () => 'one' as const, middleware: [same] }
  expect(() => orchestrator(turns as never)).toThrow(expect.objectContaining({ code: 'ORCHESTRATOR_CONFIG' }))
})
