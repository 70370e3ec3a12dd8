/** Killed at any moment, a root goes on from its journal as if nothing had been; what the world saw is never forgotten. */
import { describe, expect, test } from 'vitest'
import type { AnyActorRef } from 'xstate'
import type { Host } from '../../../src/actors/host/host.ts'
import { decode, encode } from '../../../src/actors/journal/codec.ts'
import { replay } from '../../../src/actors/journal/replay.ts'
import { type Registration, registerMachine } from '../../../src/actors/registration.ts'
import { Replica } from '../../../src/actors/replica/replica.ts'
import type { ReplicaSnapshot } from '../../../src/actors/replica/sink.ts'
import type { Commit } from '../../../src/contracts/journal.ts'
import { seededRandom } from '../../../src/testing/seeded.ts'
import { type Case, cases, conversation } from '../machines.ts'
import { aWorld, Puppets, pull, type Step, treeOf, type World } from '../support.ts'

const address = { kind: 'case', id: 'one' }

/** Plays a story step by step, on whichever host is current. */
const play = async (
  world: World,
  puppets: Puppets,
  current: () => Host,
  steps: Step[],
  between: (index: number) => Promise<boolean | void> = async () => {},
) => {
  const startAt = world.clock.now()
  let passed = 0
  for (const [index, step] of steps.entries()) {
    if ('send' in step) {
      // A sender that was cut off sends again under the same id.
      for (let attempt = 0; attempt < 3; attempt++) {
        const sent = current()
          .send(address, step.send, { id: `m${index}` })
          .then(
            () => 'ok',
            (error) => (error as { code: string }).code,
          )
        const code = await world.clock.until(
          Promise.race([
            sent,
            world.clock
              .settle()
              .then(() => world.clock.settle())
              .then(() => 'cut off'),
          ]),
        )
        await between(index)
        if (!['closed', 'fenced', 'cut off'].includes(code)) break
      }
    } else if ('wait' in step) passed += step.wait
    else pull(puppets, step)
    await world.clock.settle()
    // Whoever begins again comes to the same result again.
    if ((await between(index)) && !('send' in step) && !('wait' in step)) pull(puppets, step)
    await world.clock.settle()
    while (world.clock.now() < startAt + passed) {
      await world.clock.advance('wait' in step && step.wait > 1000 ? step.wait / 4 : 10)
      if (await between(index)) await world.clock.advance(1)
    }
  }
}

const known = ({ steps }: Case): Step[] => steps.filter((step) => !('send' in step) || !['x', 'late', 'some', 'some.thing'].includes(step.send.type))

const recorded = async (one: Case) => {
  const world = await aWorld()
  const puppets = new Puppets()
  const registration = registerMachine('case', one.machine(puppets))
  const host = await world.host([registration])
  await play(world, puppets, () => host, known(one))
  const root = await host.get(address)
  const tree = treeOf(root.replica?.actor as AnyActorRef)
  const commits = await world.commits(address)
  return { world, puppets, registration, host, tree, commits }
}

const fold = (registration: Registration, commits: Commit[], from?: { at: Commit; snapshot: ReplicaSnapshot }): Replica => {
  const { create, at, epoch } = commits[0] as Commit
  const begun = from ? { at: from.at.at, epoch: from.at.epoch, snapshot: from.snapshot } : { at, epoch }
  const replica = new Replica({ registration, input: create?.input, ...begun })
  for (const commit of from ? commits.filter(({ seq }) => seq > from.at.seq) : commits) {
    replica.enter(commit.epoch)
    for (const input of commit.inputs) replica.apply(input, commit.at)
  }
  return replica
}

describe.each(cases)('$name', (one) => {
  test('[INV-13] replay from the start is identical; from a snapshot after any commit to the end of any other, the state is the recorded one', async () => {
    const { world, registration, commits } = await recorded(one)

    const replayed = await replay(world.journal, address, registration)
    let compared = 0
    for (const [cut, at] of commits.entries()) {
      const snapshot = decode(encode(fold(registration, commits.slice(0, cut + 1)).persisted())) as ReplicaSnapshot
      for (let end = cut + 1; end <= commits.length; end++) {
        const again = fold(registration, commits.slice(0, end), { at, snapshot: structuredClone(snapshot) })
        expect(again.digest(), `snapshot after ${cut + 1}, crash after ${end}`).toBe(commits[end - 1]?.digest)
        const whole = fold(registration, commits.slice(0, end))
        expect([...again.effects.values()].map(({ path, epoch, sent }) => ({ path, epoch, sent }))).toEqual(
          [...whole.effects.values()].map(({ path, epoch, sent }) => ({ path, epoch, sent })),
        )
        expect(again.states()).toEqual(whole.states())
        compared++
      }
    }

    expect(replayed).toMatchObject({ verdict: 'identical', commits: commits.length })
    expect(compared).toBe((commits.length * (commits.length + 1)) / 2)
  })

  test('[INV-1, INV-4] killed after each commit, before and after its outputs, it ends where the uninterrupted one does', async () => {
    const { commits, tree, puppets: calm } = await recorded(one)
    for (const moment of ['received', 'appended', 'done'] as const) {
      for (let kill = 1; kill <= commits.length; kill++) {
        const world = await aWorld()
        const puppets = new Puppets()
        const registration = registerMachine('case', one.machine(puppets))
        let dead = false
        const first: Host = await world.host([registration], {
          limits: { snapshotEvery: 1 + (kill % 4) },
          events: {
            reached: (_root, at, commit) => {
              if (at !== moment || commit.seq !== kill || dead) return
              dead = true
              first.abandon()
            },
          },
        })
        let host = first
        await play(
          world,
          puppets,
          () => host,
          known(one),
          async () => {
            if (!dead || host !== first) return false
            host = await world.host([registration])
            await world.clock.settle()
            return moment === 'received'
          },
        )

        expect(treeOf((await host.get(address)).replica?.actor as AnyActorRef), `killed at ${moment} of ${kill}`).toEqual(tree)
        expect((await replay(world.journal, address, registration)).verdict).toBe('identical')
        // No effect is started under another key, and none whose end is on record starts again.
        const keys = new Set(calm.starts.map(({ key }) => key))
        expect(puppets.starts.filter(({ key }) => !keys.has(key))).toEqual([])
        for (const { key, restarted, attempt } of puppets.starts)
          expect(restarted || puppets.starts.filter((other) => other.key === key && !other.restarted).length <= 1, key).toBe(attempt >= 1)
      }
    }
  })
})

test('[INV-5] killed at 100 random moments while the old host lives on as a zombie: it is fenced, drops its tree and acts no more', async () => {
  const { tree } = await recorded(conversation)
  const random = seededRandom(7)
  let fenced = 0
  for (let round = 0; round < 100; round++) {
    const world = await aWorld()
    const puppets = new Puppets()
    const registration = registerMachine('case', conversation.machine(puppets))
    const takeoverAt = Math.floor(random.next() * conversation.steps.length)
    const turns = Math.floor(random.next() * 10)
    const zombie = await world.host([registration])
    const zombieRoot = await zombie.get(address)
    let host = zombie
    const steps = known(conversation)
    await play(
      world,
      puppets,
      () => host,
      steps,
      async (index) => {
        if (index !== takeoverAt || host !== zombie) return
        for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
        host = await world.host([registration])
        await world.clock.until(host.get(address))
      },
    )
    const code = await world.clock.until(
      zombieRoot.send({ type: 'note' }).then(
        () => 'ok',
        (error) => (error as { code: string }).code,
      ),
    )

    expect(treeOf((await host.get(address)).replica?.actor as AnyActorRef), `round ${round}`).toEqual(tree)
    expect((await replay(world.journal, address, registration)).verdict).toBe('identical')
    if (takeoverAt < steps.length - 1) expect(code).toBe('fenced')
    if (code === 'fenced') fenced++
    const starts = puppets.starts.length
    await world.clock.settle()
    expect(puppets.starts.length).toBe(starts)
  }
  expect(fenced).toBeGreaterThan(80)
})

test('[INV-6] a restarted effect has its key, is told that it ran, and gets all that it was sent; one that ended is not started again', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const streams = cases.find(({ name }) => name.startsWith('callback')) as Case
  const registration = registerMachine('case', streams.machine(puppets))
  const first = await world.host([registration])
  await world.clock.until(first.send(address, { type: 'say', text: 'one' }))
  await world.clock.until(first.send(address, { type: 'say', text: 'two' }))
  puppets.control('news').resolve(undefined)
  await world.clock.settle()
  first.abandon()
  const before = puppets.starts.length
  puppets.log = []

  await world.host([registration])
  await world.clock.settle()

  const again = puppets.starts.slice(before)
  expect(again.map(({ name, key, restarted, attempt }) => ({ name, key, restarted, attempt }))).toEqual([
    { name: 'phone', key: 'case/one/phone#1', restarted: true, attempt: 2 },
    { name: 'ticks', key: 'case/one/ticks#1', restarted: true, attempt: 2 },
  ])
  // The action of the last commit is repeated: nobody can know whether it was done.
  expect(puppets.log).toEqual(['more on xstate.done.actor.news', 'start phone', 'phone got word', 'phone got word', 'start ticks'])
})

test('an effect is told that it restarts also by the host that had it before', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const registration = registerMachine('case', conversation.machine(puppets))
  const host = await world.host([registration])
  await world.clock.until(host.send(address, { type: 'message', text: 'hi' }))
  await world.clock.settle()
  await (await host.get(address)).close()

  await world.clock.until(host.get(address))

  expect(puppets.starts.map(({ key, restarted, attempt }) => ({ key, restarted, attempt }))).toEqual([
    { key: 'case/one/turn#1/model#1', restarted: false, attempt: 1 },
    { key: 'case/one/turn#1/model#1', restarted: true, attempt: 2 },
  ])
})

test('actions and emitted events of the last commit are repeated after a kill, those of earlier ones and after a clean close are not', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const registration = registerMachine('case', conversation.machine(puppets))
  const told: string[] = []
  const events = {
    committed: (_root: unknown, commit: Commit, emitted: { event: { type: string } }[], redo: boolean) =>
      void told.push(...emitted.map(({ event }) => `${commit.seq} ${event.type}${redo ? ' again' : ''}`)),
  }
  const first = await world.host([registration], { events })
  await world.clock.until(first.send(address, { type: 'note' }))
  await world.clock.until(first.send(address, { type: 'note' }))
  await world.clock.settle()
  first.abandon()

  const second = await world.host([registration], { events })
  await world.clock.settle()
  const afterKill = { log: [...puppets.log], told: [...told] }
  await world.clock.until(second.close())
  await world.host([registration], { events })
  await world.clock.settle()

  expect(afterKill.log).toEqual(['act on note', 'act on note', 'act on note'])
  expect(afterKill.told).toEqual(['1 noted', '2 noted', '2 noted again'])
  expect(puppets.log).toEqual(afterKill.log)
  expect(told).toEqual(afterKill.told)
})

test('a host that dies between its claim and the repetition leaves it to the next one', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const registration = registerMachine('case', conversation.machine(puppets))
  const first = await world.host([registration], { events: { reached: (_root, at) => void (at === 'appended' && first.abandon()) } })
  await world.clock.until(first.send(address, { type: 'note' }).catch(() => undefined))
  const second = await world.host([registration], {
    journal: (journal) => ({
      ...journal,
      append: async (...args) => {
        await journal.append(...args)
        throw new Error('killed')
      },
    }),
  })
  second.abandon()
  const before = [...puppets.log]

  await world.host([registration])
  await world.clock.settle()

  expect((await world.commits(address)).map(({ inputs, claim = false }) => [inputs.length, claim])).toEqual([
    [1, true],
    [0, true],
    [0, true],
  ])
  expect(before).toEqual([])
  expect(puppets.log).toEqual(['act on note'])
})

test('that a root is new shows in two answers that are waited for together, and nothing more is asked for its first message', async () => {
  const world = await aWorld()
  const registration = registerMachine('case', conversation.machine(new Puppets()))
  const asked = { snapshot: Promise.withResolvers<void>(), head: Promise.withResolvers<void>() }
  const host = await world.host([registration], {
    journal: (journal) => ({
      ...journal,
      // Each of them answers when the other one is asked.
      snapshot: (of) => {
        asked.snapshot.resolve()
        return asked.head.promise.then(() => journal.snapshot(of))
      },
      head: (of) => {
        asked.head.resolve()
        return asked.snapshot.promise.then(() => journal.head(of))
      },
      read: () => Promise.reject(new Error('there is nothing to read')),
    }),
  })

  expect(await world.clock.until(host.send(address, { type: 'note' }))).toMatchObject({ seq: 1 })
})

test('timers are armed with the time that is left, overdue ones fire once, as inputs of their own', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const timed = cases.find(({ name }) => name.startsWith('after')) as Case
  const registration = registerMachine('case', timed.machine(puppets))
  const first = await world.host([registration])
  await world.clock.until(first.send(address, { type: 'later' }))
  await world.clock.advance(60)
  first.abandon()

  const second = await world.host([registration])
  await world.clock.advance(39)
  const early = [...puppets.log]
  await world.clock.advance(2)
  const inTime = [...puppets.log]
  second.abandon()
  await world.clock.advance(5000)
  await world.host([registration])
  await world.clock.advance(0)

  expect(early).toEqual([])
  expect(inTime).toEqual(['act on ping'])
  expect(puppets.log.slice(1).sort()).toEqual([
    'act on ping',
    'act on xstate.after.300.timed.a',
    'in on xstate.after.1000.timed.a',
    'more on xstate.after.1000.timed.a',
  ])
  const timers = (await world.commits(address)).flatMap(({ inputs }) => inputs.filter((input) => 'timer' in input))
  expect(timers).toHaveLength(3)
})
