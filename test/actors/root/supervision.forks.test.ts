/** What supervision counts in a fork: nothing that became of its origin. */
import { expect, test } from 'vitest'
import { setup } from 'xstate'
import { registerMachine } from '../../../src/actors/registration.ts'
import { aWorld, outcome, Puppets, type World } from '../support.ts'

const errand = (puppets: Puppets) =>
  registerMachine(
    'errand',
    setup({ actors: { work: puppets.promise('work') } }).createMachine({
      id: 'errand',
      initial: 'idle',
      states: { idle: { on: { go: 'working' } }, working: { invoke: { src: 'work', onDone: 'idle' } } },
    }),
  )

const at = (id: string) => ({ kind: 'errand', id })
const forked = async ({ journal, clock }: World, from: string, to: string): Promise<void> => {
  const { seq } = (await journal.head(at(from)))!
  await journal.fork(at(from), seq, at(to), { answers: 'live' }, { wakeAt: 0, at: clock.now() })
}

test('each fork of a chain begins at once, since the ones before it were begun and not taken over', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await world.host([errand(puppets)])
  await world.clock.until(host.send(at('0'), { type: 'go' }))
  await world.clock.settle()
  const waits: number[] = []

  for (let made = 1; made <= 14; made++) {
    await forked(world, String(made - 1), String(made))
    const before = puppets.starts.length
    const since = world.clock.now()
    expect((await world.clock.until(host.get(at(String(made))))).quarantine).toBeUndefined()
    await world.clock.until(() => puppets.starts.length > before)
    waits.push(world.clock.now() - since)
  }

  expect(waits).toEqual(waits.map(() => 0))
  expect(world.logged.filter(({ message }) => message === 'this host took over an actor')).toEqual([])
})

test('hosts that die with a fork are counted from its beginning on, and those of its origin are not', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const ofFork = () => puppets.starts.filter(({ key }) => key.includes('fork')).length
  let host = await world.host([errand(puppets)])
  await world.clock.until(host.send(at('main'), { type: 'go' }))
  for (let life = 1; life <= 3; life++) {
    host.abandon()
    host = await world.host([errand(puppets)])
  }
  await forked(world, 'main', 'fork')
  const rests: number[] = []

  for (let life = 1; life <= 6; life++) {
    host.abandon()
    const since = world.clock.now()
    host = await world.host([errand(puppets)])
    await world.clock.until(() => ofFork() === life)
    rests.push(world.clock.now() - since)
    // One that leaves in good order leaves a snapshot.
    if (life === 1) await world.clock.until(host.close())
  }

  expect(rests).toEqual([0, 0, 0, 0, 1000, 2000])
})

test('a fork of one that was set aside stays so until it is revived, and is told to be by its own name', async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const host = await world.host([errand(puppets)], { limits: { takeoverMax: 0 } })
  await world.clock.until(host.send(at('main'), { type: 'go' }))
  host.abandon()
  const next = await world.host([errand(puppets)], { limits: { takeoverMax: 0 } })
  await forked(world, 'main', 'fork')

  const refused = await outcome(world, next.send(at('fork'), { type: 'go' }))

  expect(refused).toMatchObject({ code: 'quarantined', error: { hint: expect.stringContaining("'statecast revive errand/fork'") } })
  expect(JSON.stringify(refused)).not.toContain('errand/main')
  const before = puppets.starts.length
  await world.clock.until((await next.get(at('fork'))).revive())
  await world.clock.until(() => puppets.starts.length > before)
})
