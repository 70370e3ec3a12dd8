/** Whatever an author's code throws: its sender is told, the root begins again within a budget, nobody else notices. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { assign, enqueueActions, fromCallback, fromPromise, sendTo, setup } from 'xstate'
import { type MachineOptions, registerMachine } from '../../../src/actors/registration.ts'
import { backoffMs, overBudget } from '../../../src/actors/root/supervision.ts'
import type { Journal } from '../../../src/contracts/transport.ts'
import { aWorld, codeOf, outcome, Puppets } from '../support.ts'

const loose: unknown[] = []
const catchLoose = (error: unknown) => void loose.push(error)
beforeAll(() => {
  process.on('uncaughtException', catchLoose)
  process.on('unhandledRejection', catchLoose)
})
beforeEach(() => void (loose.length = 0))
afterAll(() => {
  process.off('uncaughtException', catchLoose)
  process.off('unhandledRejection', catchLoose)
})
const turns = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => void setTimeout(resolve, 1))
}

const boom = () => {
  throw new Error('boom')
}
const address = { kind: 'fragile', id: 'one' }
const other = { kind: 'fragile', id: 'two' }
const types = {} as { context: any; events: any; input: any }

const fragile = (p: Puppets, options: MachineOptions = {}) =>
  registerMachine(
    'fragile',
    setup({
      types,
      actors: {
        work: p.promise('work'),
        startThrows: fromPromise(boom),
        callbackThrows: fromCallback(boom),
        receiveThrows: fromCallback(({ receive }) => {
          receive(boom)
          return () => void p.log.push('disposed')
        }),
        child: setup({ types }).createMachine({ on: { boom: { actions: assign(boom) } } }),
        badEvent: fromCallback(({ sendBack }) => sendBack('not an event' as never)),
      },
      actions: {
        act: p.action('act'),
        failing: boom,
        rejecting: (() => Promise.reject(new Error('later'))) as never,
        listens: ({ context }: any) => void context.ref?.subscribe(boom),
      },
      guards: { bad: boom as never },
    }).createMachine({
      id: 'fragile',
      context: { n: 0, error: undefined },
      initial: 'idle',
      on: {
        add: { actions: [assign({ n: ({ context }: any) => context.n + 1 }), 'act'] },
        assign: { actions: assign(boom) },
        guard: { guard: 'bad', target: '.idle' },
        action: { actions: 'failing' },
        reject: { actions: 'rejecting' },
        output: { actions: sendTo(boom as never, { type: 'x' } as never) },
        enqueue: { actions: enqueueActions(boom) },
        loop: '.loop',
        circle: '.circle',
        work: '.working',
        startThrows: '.startThrows',
        callbackThrows: '.callbackThrows',
        receiveThrows: '.receiveThrows',
        badEvent: '.badEvent',
        listen: { actions: [assign({ ref: ({ spawn }: any) => spawn('child', { id: 'heard' }) }), 'listens'] },
        tickle: { actions: sendTo('heard', { type: 'boom' }) },
        'xstate.error.actor.heard': { actions: 'act' },
      },
      states: {
        idle: {},
        loop: { always: 'loop2' },
        loop2: { always: 'loop' },
        circle: { on: { ping: { actions: sendTo(({ self }) => self, { type: 'ping' }) } }, entry: sendTo(({ self }) => self, { type: 'ping' }) },
        working: { invoke: { src: 'work', onDone: 'idle' } },
        startThrows: {
          invoke: { src: 'startThrows', onError: { target: 'failed', actions: assign({ error: ({ event }: any) => event.error.message }) } },
        },
        callbackThrows: {
          invoke: { src: 'callbackThrows', onError: { target: 'failed', actions: assign({ error: ({ event }: any) => event.error.message }) } },
        },
        receiveThrows: {
          entry: sendTo('r', { type: 'x' }),
          invoke: {
            src: 'receiveThrows',
            id: 'r',
            onError: { target: 'failed', actions: assign({ error: ({ event }: any) => event.error.message }) },
          },
        },
        badEvent: { invoke: { src: 'badEvent', onError: { target: 'failed', actions: assign({ error: ({ event }: any) => event.error.name }) } } },
        failed: {},
      },
    }),
    options,
  )

test.each(['assign', 'guard', 'output', 'enqueue', 'loop', 'circle'])(
  '[INV-10] poison (%s): its sender gets a typed error, it is kept unapplied, the state is what it was, others go on',
  async (type) => {
    const world = await aWorld()
    const puppets = new Puppets()
    const host = await world.host([fragile(puppets)])
    await outcome(world, host.send(address, { type: 'add' }))
    const [good, bad, alsoGood, elsewhere] = [
      host.send(address, { type: 'add' }),
      host.send(address, { type }, { id: 'poison' }),
      host.send(address, { type: 'add' }),
      host.send(other, { type: 'add' }),
    ]

    const results = await Promise.all([outcome(world, good), outcome(world, bad), outcome(world, alsoGood), outcome(world, elsewhere)])
    const again = await outcome(world, host.send(address, { type }, { id: 'poison' }))

    expect(results).toMatchObject([{ value: { seq: 2 } }, { code: 'bad_request' }, { value: { seq: 2 } }, { value: { seq: 1 } }])
    expect(again).toMatchObject({ code: 'bad_request' })
    expect((await host.get(address)).replica?.actor.getSnapshot()).toMatchObject({ value: 'idle', context: { n: 3 } })
    const commits = await world.commits(address)
    expect(commits.flatMap(({ refused = [] }) => refused)).toMatchObject([{ input: { event: { type } }, error: { code: 'bad_request' } }])
    expect(commits.flatMap(({ inputs }) => inputs)).toHaveLength(3)
    expect(puppets.log.filter((line) => line === 'act on add')).toHaveLength(4)
    await turns()
    expect(loose).toEqual([])
  },
)

test('poison as the very first message creates the root without it', async () => {
  const world = await aWorld()
  const host = await world.host([fragile(new Puppets())])

  const first = await codeOf(world, host.send(address, { type: 'assign' }))
  const second = await outcome(world, host.send(address, { type: 'add' }))

  expect(first).toBe('bad_request')
  expect(second).toMatchObject({ value: { seq: 2 } })
  expect((await host.get(address)).replica?.actor.getSnapshot().context.n).toBe(1)
})

test('a machine that throws in its initial transition is not created, and may be with another input', async () => {
  const world = await aWorld()
  const registration = registerMachine(
    'picky',
    setup({ types }).createMachine({
      context: ({ input }: any) => (input?.good ? { ok: true } : boom()),
      on: { go: {}, yes: { actions: assign({}) } },
    }),
  )
  const host = await world.host([registration])
  const picky = { kind: 'picky', id: 'one' }

  const refused = await outcome(world, host.send(picky, { type: 'yes' }, { input: { good: false } }))
  const created = await outcome(world, host.send(picky, { type: 'yes' }, { input: { good: true } }))

  expect(refused).toMatchObject({ code: 'bad_request', message: expect.stringContaining('cannot begin: boom') })
  expect(created).toMatchObject({ value: { seq: 1 } })
})

test.each([
  ['startThrows', 'boom'],
  ['callbackThrows', 'boom'],
  ['receiveThrows', 'boom'],
  ['badEvent', 'TypeError'],
])('an effect that throws (%s) fails as in XState: the machine takes its onError', async (type, error) => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await world.host([fragile(puppets)])

  await outcome(world, host.send(address, { type }))
  await world.clock.settle()

  expect((await host.get(address)).replica?.actor.getSnapshot()).toMatchObject({ value: 'failed', context: { error } })
  if (type === 'receiveThrows') expect(puppets.log).toEqual(['disposed'])
  await turns()
  expect(loose).toEqual([])
})

test.each(['action', 'reject'])(
  'an action that throws (%s) is tried again after a pause, then the root is quarantined; a restart does not forget that',
  async (type) => {
    const world = await aWorld()
    const host = await world.host([fragile(new Puppets())], { limits: { crashMax: 3 } })

    const receipt = await outcome(world, host.send(address, { type }))
    await world.clock.advance(3000)
    const refused = await outcome(world, host.send(address, { type: 'add' }))
    const elsewhere = await outcome(world, host.send(other, { type: 'add' }))
    host.abandon()
    const next = await world.host([fragile(new Puppets())])
    const stillRefused = await codeOf(world, next.send(address, { type: 'add' }))

    expect(receipt).toMatchObject({ value: { seq: 1 } })
    expect(refused).toMatchObject({ code: 'quarantined', error: { data: { reason: { message: type === 'action' ? 'boom' : 'later' } } } })
    expect(elsewhere).toMatchObject({ value: { seq: 1 } })
    expect(stillRefused).toBe('quarantined')
    const commits = await world.commits(address)
    expect(commits.filter(({ crash }) => crash)).toHaveLength(4)
    expect(commits.at(-1)?.quarantine).toMatchObject({ code: 'internal' })
    await turns()
    expect(loose).toEqual([])
  },
)

test('an unhandled rejection of an effect restarts it with growing pauses, then quarantines; revived, it runs again', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await world.host([fragile(puppets)], { limits: { crashMax: 2 } })
  await outcome(world, host.send(address, { type: 'work' }))
  const at: number[] = []
  for (let attempt = 0; attempt < 3; attempt++) {
    await world.clock.settle()
    at.push(puppets.starts.length)
    puppets.control('work').reject(new Error('down'))
    await world.clock.advance(40)
    at.push(puppets.starts.length)
    await world.clock.advance(400)
  }

  const code = await codeOf(world, host.send(address, { type: 'add' }))
  const root = await host.get(address)
  await world.clock.until(root.revive())
  await world.clock.settle()
  puppets.control('work').resolve('at last')
  await world.clock.settle()

  expect(code).toBe('quarantined')
  expect(at).toEqual([1, 1, 2, 2, 3, 3])
  expect(puppets.starts.map(({ restarted, attempt }) => [restarted, attempt])).toEqual([
    [false, 1],
    [true, 2],
    [true, 3],
    [true, 5],
  ])
  expect(root.replica?.actor.getSnapshot().value).toBe('idle')
  expect(await codeOf(world, host.send(address, { type: 'add' }))).toBe('ok')
})

test('one that is being restarted is revived once it has been set aside; one that is fine is not, and each says so', async () => {
  const world = await aWorld()
  const host = await world.host([fragile(new Puppets())], { limits: { crashMax: 2 } })
  await outcome(world, host.send(address, { type: 'action' }))
  await outcome(world, host.send(other, { type: 'add' }))
  const root = await host.get(address)
  const fine = await host.get(other)
  const before = root.quarantine

  const revived = await world.clock.until(root.revive())

  expect([before, revived, await world.clock.until(fine.revive())]).toEqual([undefined, true, false])
  expect((await world.commits(address)).filter(({ revived }) => revived)).toHaveLength(1)
})

test('reviving one that is let go meanwhile throws: nobody has looked whether it was set aside', async () => {
  const world = await aWorld()
  const host = await world.host([fragile(new Puppets())], { limits: { crashMax: 2 } })
  await outcome(world, host.send(address, { type: 'action' }))
  const root = await host.get(address)

  const [revived] = await Promise.all([codeOf(world, root.revive()), world.clock.until(root.close())])

  expect(revived).toBe('closed')
})

test('a budget of crashes counts within its period only', () => {
  const budget = { crashMax: 2, crashPeriodMs: 1000 }

  expect(overBudget([], 0, budget)).toBe(false)
  expect(overBudget([0], 500, budget)).toBe(false)
  expect(overBudget([0, 100], 500, budget)).toBe(true)
  expect(overBudget([0, 100], 1050, budget)).toBe(false)
  expect([[1], [1, 2], [1, 2, 3]].map((crashes) => backoffMs(crashes, 3, budget))).toEqual([50, 200, 800])
  expect(backoffMs(Array(30).fill(3), 3, budget)).toBe(10_000)
})

test('listeners that throw, of authors and of hosts, and children that nobody hears, end no process and no root', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await world.host([fragile(puppets)], { events: { committed: boom, live: boom, released: boom } })

  await outcome(world, host.send(address, { type: 'listen' }))
  await outcome(world, host.send(address, { type: 'tickle' }))
  await world.clock.settle()
  const code = await codeOf(world, host.send(address, { type: 'add' }))
  await turns()

  expect(code).toBe('ok')
  expect(loose).toEqual([])
  expect(puppets.log).toEqual(['act on xstate.error.actor.heard', 'act on add'])
})

test('a root that crashed can be closed during its pause', async () => {
  const world = await aWorld()
  const host = await world.host([fragile(new Puppets())])
  await outcome(world, host.send(address, { type: 'assign' }))

  await world.clock.until(host.close(), 10)

  expect(await codeOf(world, host.send(address, { type: 'add' }))).toBe('closed')
})

test('a quarantined root can leave memory', async () => {
  const world = await aWorld()
  const host = await world.host([fragile(new Puppets())], { limits: { crashMax: 0, idleMs: 1000 } })
  await outcome(world, host.send(address, { type: 'work' }))
  await codeOf(world, host.send(address, { type: 'assign' }))

  await world.clock.advance(5000)

  expect(host.liveCount).toBe(0)
})

test('what kills its process again and again does so after longer and longer rests, in which messages get through, and is set aside in the end', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  let host = await world.host([fragile(puppets)])
  await outcome(world, host.send(address, { type: 'work' }))
  await world.clock.settle()
  const rests: number[] = []
  for (let life = 1; life <= 11; life++) {
    host.abandon()
    const before = puppets.starts.length
    const began = world.clock.now()
    host = await world.host([fragile(puppets)])
    if ((await world.clock.until(host.get(address))).quarantine) break
    await world.clock.until(() => puppets.starts.length > before)
    rests.push(world.clock.now() - began)
  }

  expect(rests).toEqual([0, 0, 0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000])
  expect((await world.commits(address)).at(-1)?.quarantine).toMatchObject({
    message: expect.stringContaining('working#1'),
    hint: expect.stringContaining('statecast revive'),
  })
  await world.clock.until((await host.get(address)).revive())
  await world.clock.settle()
  expect(puppets.starts.length).toBe(12)
})

test('[INV-6] a rest that ends while a commit is on its way starts nothing of it: not before it is durable, and not twice', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const pair = registerMachine(
    'fragile',
    setup({ types, actors: { work: puppets.promise('work'), more: puppets.promise('more') } }).createMachine({
      type: 'parallel',
      states: {
        one: { initial: 'idle', states: { idle: { on: { work: 'busy' } }, busy: { invoke: { src: 'work', id: 'work' } } } },
        two: { initial: 'idle', states: { idle: { on: { more: 'busy' } }, busy: { invoke: { src: 'more', id: 'more' } } } },
      },
    }),
  )
  let open = Promise.resolve()
  const slow = (journal: Journal): Journal => ({ ...journal, append: (...all) => open.then(() => journal.append(...all)) })
  let host = await world.host([pair], { journal: slow })
  await outcome(world, host.send(address, { type: 'work' }))
  await world.clock.settle()
  for (let life = 1; life <= 4; life++) {
    host.abandon()
    host = await world.host([pair], { journal: slow })
    await world.clock.until(host.get(address))
  }
  const gate = Promise.withResolvers<void>()
  open = gate.promise
  const sent = host.send(address, { type: 'more' })
  await world.clock.settle()
  const starts = () => puppets.starts.filter(({ name }) => name === 'more')

  // It rests for a second after so many lives.
  await world.clock.advance(1_500)
  expect(starts()).toEqual([])
  gate.resolve()
  await world.clock.until(sent)
  await world.clock.settle()

  expect(starts()).toHaveLength(1)
})

test('a host that drains does not wait for what only rests', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  let host = await world.host([fragile(puppets)])
  await outcome(world, host.send(address, { type: 'work' }))
  await world.clock.settle()
  expect(await world.clock.until(host.settled(0))).toBe(false)
  for (let life = 1; life <= 4; life++) {
    host.abandon()
    host = await world.host([fragile(puppets)])
    await world.clock.until(host.get(address))
  }
  const starts = puppets.starts.length

  expect(await world.clock.until(host.settled(0))).toBe(true)

  expect(puppets.starts.length).toBe(starts)
})

test('a host that leaves in good order is none that was killed: an effect that runs for ever may be taken over for ever', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  for (let life = 1; life <= 15; life++) {
    const host = await world.host([fragile(puppets)])
    if (life === 1) await outcome(world, host.send(address, { type: 'work' }))
    await world.clock.settle()
    await world.clock.until(host.close())
  }

  expect(puppets.starts.length).toBe(15)
})

test('[INV-13] what an effect says while its root leaves gets into no snapshot without a commit', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const first = await world.host([fragile(puppets)])
  await outcome(world, first.send(address, { type: 'work' }))
  await world.clock.settle()
  first.abandon()
  // Taken over once, so that it says on leaving that it leaves; and just then its effect comes to its end.
  const second = await world.host([fragile(puppets)], {
    journal: (journal) => ({
      ...journal,
      append: async (...args) => {
        if (puppets.starts.length === 2) puppets.control('work').resolve('done')
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
        return journal.append(...args)
      },
    }),
  })
  await world.clock.settle()
  await world.clock.until(second.close())

  const third = await world.host([fragile(puppets)])
  await world.clock.settle()
  const [commits, root] = [await world.commits(address), await third.get(address)]

  expect(commits.some(({ released }) => released)).toBe(true)
  // Nobody has written down that the work is done, so it is not.
  expect(root.replica?.actor.getSnapshot().value).toBe('working')
  expect(puppets.starts.length).toBe(3)
})
