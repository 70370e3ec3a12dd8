/** Workflows as their authors and users meet them. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent, LadderError, type LadderEvent, ladder, workflow } from '../../../src/ladder/index.ts'
import { aLadder } from '../a-ladder.ts'

const named = (types: LadderEvent[]): string[] => types.map(({ type, step }) => `${type.replace('workflow.', '')}${step ? ` ${step}` : ''}`)
const wait = () => new Promise<never>(() => undefined)

test('[WL-001, WL-002] steps run in their order; what is executed and what is streamed end alike', async () => {
  const hello = workflow({
    name: 'hello',
    version: '2',
    input: z.object({ name: z.string() }),
    steps: [
      { name: 'greet', run: ({ input }) => `hello ${input.name}` },
      { name: 'shout', run: ({ steps }) => `${String(steps.greet?.output)}!` },
    ],
  })
  await using kit = await aLadder(hello)

  const executed = await kit.clock.until(hello.execute({ name: 'ann' }, { runId: 'r' }))
  const streamed = hello.stream({ name: 'ann' }, { runId: 's' })
  const events: LadderEvent[] = []
  await kit.clock.until(
    (async () => {
      for await (const event of streamed) events.push(event)
    })(),
  )

  expect(executed).toMatchObject({
    data: 'hello ann!',
    usage: { total: 0 },
    report: {
      schemaVersion: 1,
      type: 'workflow',
      name: 'hello',
      version: '2',
      runId: 'r',
      rootRunId: 'r',
      status: 'completed',
      children: [
        { type: 'step', name: 'greet', status: 'completed', parentRunId: 'r', rootRunId: 'r', attempts: 1 },
        { type: 'step', name: 'shout', status: 'completed' },
      ],
    },
  })
  expect(await hello.look('r')).toEqual(executed)
  const timeless = (text: string) => JSON.parse(text.replaceAll(/"(?:startedAt|endedAt|duration)":\d+/g, '"t":0').replaceAll('"s', '"r'))
  expect(timeless(JSON.stringify(await streamed.result))).toEqual(timeless(JSON.stringify(executed)))
  expect(named(events)).toEqual([
    'starting',
    'step.starting greet',
    'step.completed greet',
    'step.starting shout',
    'step.completed shout',
    'completed',
  ])
  expect(new Set(events.map(({ rootRunId }) => rootRunId))).toEqual(new Set(['s']))
})

test('[WL-003] what goes wrong comes back as an error with a code, and what was done before stands in the report', async () => {
  const brittle = workflow({
    name: 'brittle',
    input: z.object({ item: z.string() }),
    steps: [
      { name: 'first', run: () => 1 },
      { name: 'second', run: () => Promise.reject(new Error('no paper')) },
      { name: 'third', run: () => 3 },
    ],
  })
  await using kit = await aLadder(brittle)

  const failed = await kit.clock.until(brittle.execute({ item: 'lamp' }))
  const refused = await kit.clock.until(brittle.execute({ item: 5 as never }))

  expect(failed).toMatchObject({
    error: { code: 'STEP_FAILED', category: 'execution', message: expect.stringContaining('no paper'), context: { step: 'second' } },
    report: { status: 'failed', children: [{ name: 'first' }, { name: 'second', status: 'failed' }] },
  })
  expect(failed.error).toBeInstanceOf(LadderError)
  expect(failed).not.toHaveProperty('data')
  expect(refused).toMatchObject({ error: { code: 'SCHEMA_VALIDATION_FAILED', category: 'validation' }, report: { status: 'failed', children: [] } })
})

const run = () => 1
test.each<[string, unknown, RegExp]>([
  ['no name', { steps: [{ name: 'a', run }] }, /no name of a workflow/],
  ['a name that no subject can have', { name: 'A b', steps: [{ name: 'a', run }] }, /no name of a workflow/],
  ['no steps', { name: 'x', steps: [] }, /has no steps/],
  ['a step without a name', { name: 'x', steps: [{ run }] }, /no name of a step/],
  ['a step named like what each object has', { name: 'x', steps: [{ name: 'constructor', run }] }, /no name of a step/],
  ['a step named like a path', { name: 'x', steps: [{ name: 'a.b', run }] }, /no name of a step/],
  ['a step that does nothing', { name: 'x', steps: [{ name: 'a' }] }, /has nothing to do/],
  ['a step that does two things', { name: 'x', steps: [{ name: 'a', run, parallel: [] }] }, /has run and parallel/],
  ['a step of code that asks as well', { name: 'x', steps: [{ name: 'a', run, agent: agent({ name: 'y' }) }] }, /has run and agent/],
  [
    'two of one name',
    {
      name: 'x',
      steps: [
        { name: 'a', run },
        { name: 'b', parallel: [{ name: 'a', run }] },
      ],
    },
    /two steps of 'x' are named 'a'/,
  ],
  ['nothing in parallel', { name: 'x', steps: [{ name: 'a', parallel: [] }] }, /cannot be run/],
  [
    'parallel in parallel',
    { name: 'x', steps: [{ name: 'a', parallel: [{ name: 'b', parallel: [{ name: 'c', run }] }] }] },
    /cannot stand in another one/,
  ],
  ['a word as code', { name: 'x', steps: [{ name: 'a', run: 'go' }] }, /no function/],
  ['no step at all', { name: 'x', maxSteps: 0, steps: [{ name: 'a', run }] }, /maxSteps/],
])('[WL-106] %s is refused where it is written', (_, definition, message) => {
  expect(() => workflow(definition as never)).toThrow(
    expect.objectContaining({ code: 'WORKFLOW_ERROR', message: expect.stringMatching(message), hint: expect.any(String) }),
  )
})

test('[WL-107] skip, before, work, output, after, onward: in this order; a step that is skipped still leads on', async () => {
  const order: string[] = []
  const phases = workflow({
    name: 'phases',
    steps: [
      {
        name: 'one',
        skip: () => void order.push('skip') as never,
        before: () => void order.push('before'),
        run: () => {
          order.push('run')
          return { text: '7', noise: true }
        },
        output: { extract: (result) => (order.push('extract'), (result as { text: string }).text), schema: z.coerce.number() },
        after: (_, output) => void order.push(`after ${String(output)}`),
        nextStep: (_, output) => (order.push(`next ${String(output)}`), undefined),
      },
      { name: 'two', skip: () => true, run: () => order.push('two'), nextStep: () => ({ goto: 'four' }) },
      { name: 'three', run: () => order.push('three') },
      { name: 'four', run: ({ steps }) => steps },
    ],
  })
  await using kit = await aLadder(phases)

  const { data, report } = await kit.clock.until(phases.execute(undefined))

  expect(order).toEqual(['skip', 'before', 'run', 'extract', 'after 7', 'next 7'])
  expect(data).toMatchObject({ one: { output: 7 }, two: { status: 'skipped' } })
  expect(data).not.toHaveProperty('two.output')
  expect(report.children.map(({ name, status }) => `${name} ${status}`)).toEqual(['one completed', 'two skipped', 'four completed'])
})

test('[WL-107] an output that does not fit its schema fails the step', async () => {
  const strict = workflow({ name: 'strict', steps: [{ name: 'count', run: () => 'many', output: { schema: z.number() } }] })
  await using kit = await aLadder(strict)

  expect(await kit.clock.until(strict.execute(undefined))).toMatchObject({ error: { code: 'SCHEMA_VALIDATION_FAILED', context: { step: 'count' } } })
})

test('[WL-108] it is tried again after growing pauses, each time with the state as it was', async () => {
  const seen: [number, unknown][] = []
  const stubborn = workflow({
    name: 'stubborn',
    state: { sum: 0 },
    steps: [
      {
        name: 'add',
        run: ({ state, attempt }) => {
          seen.push([attempt, state.sum])
          state.sum += 1
          if (attempt < 3) throw new Error('not yet')
          return state.sum
        },
        retry: { attempts: 3 },
      },
    ],
  })
  await using kit = await aLadder(stubborn)

  const { data, report } = await kit.clock.until(stubborn.execute(undefined))

  expect(data).toBe(1)
  expect(seen).toEqual([
    [1, 0],
    [2, 0],
    [3, 0],
  ])
  expect(report.children[0]).toMatchObject({ attempts: 3, duration: expect.closeTo(1_500, -2) })
})

test.each<[string, object | false, number]>([
  ['the workflow says how often', {}, 2],
  ['the step says otherwise', { retry: { attempts: 3, backoff: 'none' } }, 3],
  ['the step wants none', { retry: false }, 1],
  ['an error that is not worth it', { retry: { attempts: 5, retryOn: () => false } }, 1],
])('[WL-108] %s', async (_, more, attempts) => {
  let count = 0
  const failing = workflow({
    name: 'failing',
    retry: { attempts: 2, backoff: 'linear' },
    steps: [{ name: 'try', run: () => (count++, Promise.reject(new Error('no'))), ...more }],
  })
  await using kit = await aLadder(failing)

  const { report } = await kit.clock.until(failing.execute(undefined))

  expect([count, report.children[0]?.attempts]).toEqual([attempts, attempts])
})

test.each<[string, object, number]>([
  ['500, 1000, 2000 where nothing is said', {}, 3_500],
  ['500, 1000, 1500, each by as much longer', { backoff: 'linear' }, 3_000],
  ['none', { backoff: 'none' }, 0],
  ['as code says', { backoff: (attempt: number) => attempt * 10 }, 60],
  ['30 seconds at most', { backoff: () => 60_000 }, 90_000],
  ['never less than nothing', { backoff: () => -5 }, 0],
])('[WL-108] pauses between attempts: %s', async (_, more, duration) => {
  const failing = workflow({
    name: 'failing',
    steps: [{ name: 'try', run: () => Promise.reject(new Error('no')), retry: { attempts: 4, ...more } }],
  })
  await using kit = await aLadder(failing)

  const { report } = await kit.clock.until(failing.execute(undefined))

  expect(report.children[0]).toMatchObject({ attempts: 4, duration })
})

test('[WL-108] a step that says nothing of attempts has one, whatever else it says of trying again; a cancelled one is not tried again', async () => {
  const tries: string[] = []
  const once = workflow({
    name: 'once',
    steps: [{ name: 'try', run: () => (tries.push('once'), Promise.reject(new Error('no'))), retry: { backoff: 'none', retryOn: () => true } }],
  })
  const leave = new AbortController()
  const left = workflow({
    name: 'left',
    steps: [
      {
        name: 'try',
        run: ({ signal }) => {
          tries.push('left')
          leave.abort('enough')
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('told'))))
        },
        retry: { attempts: 5, backoff: 'none' },
      },
    ],
  })
  await using kit = await aLadder(once, left)

  expect((await kit.clock.until(once.execute(undefined))).report.children).toMatchObject([{ status: 'failed', attempts: 1 }])
  expect((await kit.clock.until(left.execute(undefined, { signal: leave.signal }))).report.status).toBe('cancelled')
  await kit.runtime.settled(1_000)
  expect(tries).toEqual(['once', 'left'])
})

test('[WL-109] of several that fail the one that stands first says what the step has failed of, also where another was quicker', async () => {
  const slow = Promise.withResolvers<void>()
  const both = workflow({
    name: 'both',
    steps: [
      {
        name: 'all',
        parallel: [
          { name: 'fine', run: () => 1 },
          { name: 'late', run: () => slow.promise.then(() => Promise.reject(new Error('the first to stand'))) },
          { name: 'early', run: () => (slow.resolve(), Promise.reject(new Error('the first to fail'))) },
        ],
      },
    ],
  })
  await using kit = await aLadder(both)

  const { error, report } = await kit.clock.until(both.execute(undefined))

  expect(error).toMatchObject({ code: 'STEP_FAILED', message: expect.stringContaining('the first to stand') })
  expect(report.children[0]?.children.map(({ status }) => status)).toEqual(['completed', 'failed', 'failed'])
})

test('[WL-109] of children that run at once one fails: the others end, and their state is not taken over', async () => {
  const ended: string[] = []
  const three = (broken: boolean) =>
    workflow({
      name: broken ? 'broken' : 'whole',
      state: { a: 0, b: 0, last: '' },
      steps: [
        {
          name: 'all',
          parallel: [
            { name: 'one', run: ({ state }) => ((state.a = 1), (state.last = 'one'), ended.push('one'), 1) },
            { name: 'two', run: ({ state }) => ((state.last = 'two'), broken ? Promise.reject(new Error('torn')) : 2) },
            { name: 'three', run: ({ state }) => ((state.b = 3), ended.push('three'), 3) },
          ],
        },
      ],
      output: ({ state, steps }) => ({ state, all: steps.all?.output, flat: steps.three?.output }),
    })
  const [whole, broken] = [three(false), three(true)]
  await using kit = await aLadder(whole, broken)

  const good = await kit.clock.until(whole.execute(undefined))
  ended.length = 0
  const bad = await kit.clock.until(broken.execute(undefined))

  expect(good.data).toEqual({ state: { a: 1, b: 3, last: 'two' }, all: { one: 1, two: 2, three: 3 }, flat: 3 })
  expect(ended.sort()).toEqual(['one', 'three'])
  expect(bad).toMatchObject({
    error: { code: 'STEP_FAILED', message: expect.stringContaining('torn') },
    report: {
      children: [
        {
          name: 'all',
          status: 'failed',
          children: [
            { name: 'one', status: 'completed' },
            { name: 'two', status: 'failed' },
            { name: 'three', status: 'completed' },
          ],
        },
      ],
    },
  })
})

test('[WL-109] of two that changed the same the one that stands later wins, also where it was quicker', async () => {
  const slow = Promise.withResolvers<void>()
  const state: { last: string; gone?: number } = { last: '', gone: 1 }
  const race = workflow({
    name: 'race',
    state,
    steps: [
      {
        name: 'both',
        parallel: [
          { name: 'slow', run: async ({ state }) => (await slow.promise, (state.last = 'slow')) },
          { name: 'quick', run: ({ state }) => (delete state.gone, slow.resolve(), (state.last = 'quick')) },
        ],
      },
    ],
    output: ({ state }) => state,
  })
  await using kit = await aLadder(race)

  expect((await kit.clock.until(race.execute(undefined))).data).toEqual({ last: 'quick' })
})

test.each<[string, object]>([
  ['retryOn', { retryOn: () => JSON.parse('{') }],
  ['backoff', { backoff: () => JSON.parse('{') }],
])('[WL-108] a %s that throws ends the attempts, and says so', async (_, retry) => {
  const torn = workflow({ name: 'torn', steps: [{ name: 'a', run: () => JSON.parse('['), retry: { attempts: 3, ...retry } }] })
  await using kit = await aLadder(torn)

  expect(await kit.clock.until(torn.execute(undefined))).toMatchObject({
    error: { code: 'STEP_FAILED', message: expect.stringContaining('retry of the step') },
    report: { children: [{ attempts: 1 }] },
  })
})

test('[WL-109] what children did to the state can be put together by hand', async () => {
  const sums = workflow({
    name: 'sums',
    state: { sum: 10 },
    steps: [
      {
        name: 'both',
        parallel: [
          { name: 'left', run: ({ state }) => void (state.sum += 1) },
          { name: 'right', run: ({ state }) => void (state.sum += 2) },
        ],
        mergeState: async (before, { left, right }) => ({ sum: before.sum + (left!.sum - before.sum) + (right!.sum - before.sum) }),
      },
    ],
    output: ({ state }) => state.sum,
  })
  await using kit = await aLadder(sums)

  expect((await kit.clock.until(sums.execute(undefined))).data).toBe(13)
})

test('[WL-110] a step leads to another one, to the end, and on after it has failed', async () => {
  const routed = workflow({
    name: 'routed',
    input: z.object({ way: z.string() }),
    steps: [
      {
        name: 'fork',
        run: ({ input }) => (input.way === 'break' ? Promise.reject(new Error('bent')) : input.way),
        nextStep: (_, output) => (output === 'far' ? { goto: 'far' } : output === 'end' ? { end: true } : undefined),
        onFailure: (_, error) => (error.message.includes('bent') ? { goto: 'far' } : undefined),
      },
      { name: 'near', run: () => 'near', nextStep: () => ({ end: true }) },
      { name: 'far', run: () => 'far' },
    ],
  })
  await using kit = await aLadder(routed)
  const through = async (way: string) => {
    const { report, data } = await kit.clock.until(routed.execute({ way }))
    return [report.status, data, ...report.children.map(({ name, status }) => `${name} ${status}`)]
  }

  expect(await through('far')).toEqual(['completed', 'far', 'fork completed', 'far completed'])
  expect(await through('on')).toEqual(['completed', 'near', 'fork completed', 'near completed'])
  expect(await through('end')).toEqual(['completed', 'end', 'fork completed'])
  expect(await through('break')).toEqual(['completed', 'far', 'fork failed', 'far completed'])
})

test('[WL-110] the workflow says where steps lead that do not say it themselves; a failure that its author lets end completes the run', async () => {
  const tries: string[] = []
  const led = workflow({
    name: 'led',
    input: z.object({ fails: z.boolean() }),
    nextStep: ({ steps }) => (steps.last ? undefined : { goto: 'last' }),
    steps: [
      {
        name: 'first',
        run: ({ input }) => (tries.push('first'), input.fails ? Promise.reject(new Error('no')) : 1),
        retry: { attempts: 2, backoff: 'none' },
        onFailure: () => ({ end: true }),
      },
      { name: 'own', run: () => 'own', nextStep: () => ({ end: true }) },
      { name: 'last', run: () => 'last' },
      { name: 'after', run: () => 'after', nextStep: () => ({ goto: 'own' }) },
    ],
  })
  await using kit = await aLadder(led)
  const through = async (fails: boolean) => {
    const { report } = await kit.clock.until(led.execute({ fails }))
    return [report.status, ...report.children.map(({ name, status }) => `${name} ${status}`)]
  }

  // `last` says nothing, and nor does the workflow by then; what stands beside a step goes before what stands beside the workflow.
  expect(await through(false)).toEqual(['completed', 'first completed', 'own completed', 'last completed', 'after completed'])
  expect(await through(true)).toEqual(['completed', 'first failed'])
  // Only when all attempts have failed is it asked where that leads.
  expect(tries).toEqual(['first', 'first', 'first'])
})

test.each<[string, object]>([
  ['a step that is not there', { nextStep: () => ({ goto: 'nowhere' }) }],
  ['a hook that throws', { nextStep: () => Promise.reject(new Error('lost')) }],
  ['another word', { nextStep: () => ({ go: 'b' }) }],
  ['a bare name', { nextStep: () => 'b' }],
  [
    'nowhere after a failure',
    {
      run: () => Promise.reject(new Error('x')),
      onFailure: () => ({ goto: 'nowhere' }),
    },
  ],
  ['a hook that throws after a failure', { run: () => Promise.reject(new Error('x')), onFailure: () => Promise.reject(new Error('lost')) }],
])('[WL-110] %s is no way on', async (_, more) => {
  const lost = workflow({ name: 'lost', retry: { attempts: 3 }, steps: [{ name: 'a', run, ...more } as never, { name: 'b', run }] })
  await using kit = await aLadder(lost)

  expect(await kit.clock.until(lost.execute(undefined))).toMatchObject({
    error: { code: 'WORKFLOW_INVALID_GOTO', context: { step: 'a' } },
    report: { status: 'failed', children: [{ name: 'a' }] },
  })
})

test('[WL-111] a run that goes round in circles is told of at the fifth time, and ended', async () => {
  let count = 0
  const circle = workflow({
    name: 'circle',
    steps: [{ name: 'round', run: () => ++count, nextStep: () => ({ goto: 'round' }) }],
  })
  await using kit = await aLadder(circle)
  const warnings: LadderEvent[] = []

  const { error } = await kit.clock.until(circle.execute(undefined, { on: { 'workflow.loop.warning': (event) => void warnings.push(event) } }))

  expect(error).toMatchObject({ code: 'WORKFLOW_MAX_STEPS', context: { maxSteps: 100, step: 'round' } })
  expect(count).toBe(100)
  expect(warnings).toMatchObject([{ step: 'round', visits: 5 }])
})

test('[WL-112] input, what came before and what the caller brings are to be read; only the state is to be written, and nothing of the caller is stored', async () => {
  const tried: string[] = []
  const refused = (what: string, write: () => void) => {
    try {
      write()
    } catch (error) {
      tried.push(`${what}: ${(error as Error).name}`)
    }
  }
  const careful = workflow({
    name: 'careful',
    input: z.object({ items: z.array(z.string()) }),
    state: { n: 0 },
    steps: [
      { name: 'first', run: () => ({ deep: [1] }) },
      {
        name: 'second',
        run: ({ input, steps, context, state }) => {
          refused('input', () => input.items.push('x'))
          refused('steps', () => (steps.first!.output as { deep: number[] }).deep.push(2))
          refused('context', () => Object.assign(context, { more: 1 }))
          state.n = 5
          return context.secret
        },
      },
    ],
    output: ({ state, steps }) => ({ state, said: steps.second?.output === 'top' }),
  })
  await using kit = await aLadder(careful)

  const { data } = await kit.clock.until(careful.execute({ items: [] }, { runId: 'c', context: { secret: 'top', handle: () => 1 } }))

  expect(tried).toEqual(['input: TypeError', 'steps: TypeError', 'context: TypeError'])
  expect(data).toEqual({ state: { n: 5 }, said: true })
  const { snapshot } = await kit.runtime
    .actor('careful', 'c')
    .snapshot()
    .then((at) => ({ snapshot: JSON.stringify(at.context) }))
  expect(snapshot).not.toContain('handle')
})

test('[WL-113] a run that failed goes on at the step that failed, and not before it', async () => {
  const ran: string[] = []
  let paper = false
  const printing = workflow({
    name: 'printing',
    steps: [
      { name: 'prepare', run: () => ran.push('prepare') },
      { name: 'print', run: () => (ran.push('print'), paper ? 'printed' : Promise.reject(new Error('no paper'))) },
    ],
  })
  await using kit = await aLadder(printing)

  const failed = await kit.clock.until(printing.execute(undefined, { runId: 'p' }))
  const asked = await kit.clock.until(printing.execute(undefined, { runId: 'p' }))
  paper = true
  const mended = await kit.clock.until(printing.resume('p'))
  const again = await kit.clock.until(printing.resume('p'))

  expect([failed.report.status, asked.report.status, mended.report.status]).toEqual(['failed', 'failed', 'completed'])
  expect(ran).toEqual(['prepare', 'print', 'print'])
  expect(mended.data).toBe('printed')
  expect(again).toEqual(mended)
  await expect(kit.clock.until(printing.resume('nobody'))).rejects.toMatchObject({ code: 'not_found' })
})

test('[WL-115] cancelled in the middle of a step: its code is told, what was done stays, and it can go on', async () => {
  let hangs = true
  const reasons: unknown[] = []
  const slow = workflow({
    name: 'slow',
    steps: [
      { name: 'quick', run: () => 'done' },
      {
        name: 'stuck',
        run: ({ signal }) => {
          signal.addEventListener('abort', () => reasons.push('told'))
          return hangs ? wait() : 'free'
        },
      },
    ],
  })
  await using kit = await aLadder(slow)
  const stop = new AbortController()
  const events: LadderEvent[] = []

  const running = slow.stream(undefined, { runId: 's', signal: stop.signal }).on({ '*': (event) => void events.push(event) })
  running.on({ 'workflow.step.starting': ({ step }) => step === 'stuck' && stop.abort('enough') })
  const cancelled = await kit.clock.until(running.result)
  hangs = false
  const resumed = await kit.clock.until(slow.resume('s'))

  expect(cancelled).toMatchObject({
    error: { code: 'WORKFLOW_CANCELLED', category: 'cancelled', context: { cancelledAt: 'stuck', reason: 'enough' } },
    report: { status: 'cancelled', children: [{ name: 'quick', status: 'completed' }] },
  })
  expect(reasons).toEqual(['told'])
  expect(named(events).at(-1)).toBe('cancelled')
  expect(resumed.data).toBe('free')
})

test('[WL-115] what becomes of steps is told: which are skipped, tried again, have failed, and how the run ends', async () => {
  let tries = 0
  const flow = workflow({
    name: 'flow',
    steps: [
      { name: 'idle', skip: () => true, run: () => 1 },
      { name: 'shaky', run: () => (++tries < 2 ? Promise.reject(new Error('busy')) : 2), retry: { attempts: 2, backoff: 'none' } },
      { name: 'broken', run: () => Promise.reject(new Error('no ink')) },
    ],
  })
  await using kit = await aLadder(flow)
  const events: LadderEvent[] = []

  await kit.clock.until(flow.execute(undefined, { on: { '*': (event) => void events.push(event) } }))

  expect(named(events)).toEqual([
    'starting',
    'step.starting idle',
    'step.skipped idle',
    'step.starting shaky',
    'step.retrying shaky',
    'step.completed shaky',
    'step.starting broken',
    'step.failed broken',
    'error',
  ])
  const [retrying, failed] = ['retrying', 'failed'].map((type) => events.find((event) => event.type === `workflow.step.${type}`))
  expect(retrying).toMatchObject({ attempt: 1, error: { message: expect.stringContaining('busy') } })
  expect(failed).toMatchObject({ error: { message: expect.stringContaining('no ink') } })
})

test('[WL-110] a step that is not there is a compile error', () => {
  expect(() =>
    workflow({
      name: 'typed',
      steps: [
        { name: 'a', run, nextStep: () => ({ goto: 'b' }) },
        // @ts-expect-error there is no step c
        { name: 'b', run, nextStep: () => ({ goto: 'c' }) },
      ],
    }),
  ).not.toThrow()
})

const circle: Record<string, unknown> = {}
const nothing: Error = JSON.parse('null')
circle.again = circle
test.each<[string, () => unknown, RegExp]>([
  ['a function', () => () => 1, /output is a function/],
  ['a bigint', () => 10n, /bigint/],
  ['a map', () => new Map(), /instance of Map/],
  ['a circle', () => circle, /contains itself/],
  ['six megabytes', () => 'x'.repeat(6_000_000), /larger than/],
  ['nothing, thrown', () => Promise.reject(nothing), /failed: null/],
  ['what cannot even be asked for its message', () => Promise.reject(Object.create(null) as Error), /failed: /],
])('a step that gives %s fails by name, and the runtime goes on', async (_, run, message) => {
  const odd = workflow({ name: 'odd', steps: [{ name: 'give', run }] })
  const fine = workflow({ name: 'fine', steps: [{ name: 'give', run: () => new Date(0) }] })
  await using kit = await aLadder(odd, fine)

  const { error, report } = await kit.clock.until(odd.execute(undefined))

  expect(error).toMatchObject({ code: 'STEP_FAILED', message: expect.stringMatching(message), context: { step: 'give' } })
  expect(report.children).toMatchObject([{ name: 'give', status: 'failed' }])
  expect((await kit.clock.until(fine.execute(undefined))).data).toEqual(new Date(0))
})

test('an output that cannot be made fails the run; once it can, no step is done again', async () => {
  const ran: string[] = []
  let known = false
  const sum = workflow({
    name: 'sum',
    steps: [{ name: 'count', run: () => ran.push('count') }],
    output: ({ steps }) => {
      if (!known) throw new Error('unknown')
      return steps.count?.output
    },
  })
  await using kit = await aLadder(sum)

  const failed = await kit.clock.until(sum.execute(undefined, { runId: 's' }))
  known = true
  const mended = await kit.clock.until(sum.resume('s'))

  expect(failed.error).toMatchObject({ code: 'WORKFLOW_FAILED', message: expect.stringContaining('unknown') })
  expect([mended.data, ran]).toEqual([1, ['count']])
})

test('no runtime, and two of one name, are told before anything runs', async () => {
  const lonely = workflow({ name: 'lonely', steps: [{ name: 'a', run }] })

  await expect(lonely.execute(undefined)).rejects.toMatchObject({ code: 'LADDER_CONFIG', hint: expect.stringContaining('ladder(') })
  expect(() => ladder({ executables: [lonely, lonely] })).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG' }))
})
