/** Who sleeps is woken in time, by one timer: however its wake time came to stand in the journal, and whatever the clock does. */
import { describe, expect, test } from 'vitest'
import { setup } from 'xstate'
import type { Host } from '../../../src/actors/host/host.ts'
import { registerMachine } from '../../../src/actors/registration.ts'
import type { Clock } from '../../../src/contracts/environment.ts'
import type { Placement } from '../../../src/contracts/placement.ts'
import type { Journal } from '../../../src/contracts/transport.ts'
import { aWorld, outcome, Puppets, type World } from '../support.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const address = { kind: 'alarm', id: 'one' }
const alarm = (puppets = new Puppets()) =>
  registerMachine(
    'alarm',
    setup({ actions: { ring: puppets.action('ring') } }).createMachine({
      id: 'alarm',
      initial: 'quiet',
      states: { quiet: { on: { set: 'set' } }, set: { after: { [8 * hourMs]: { target: 'quiet', actions: 'ring' } } } },
    }),
  )

/** Of a store that nodes share, this one has all. */
const all: Placement = { has: () => true, admit: async () => undefined, sure: () => true }

/** Counts what is asked of a journal, and may be deaf to what is said of it. */
const watched = ({ deaf = false } = {}) => {
  const asked = { looks: 0, other: 0 }
  const counted =
    <Args extends unknown[], T>(call: (...args: Args) => T) =>
    (...args: Args): T => {
      asked.other++
      return call(...args)
    }
  const wrap = (journal: Journal): Journal => ({
    ...journal,
    // A look asks who is due, and then for the next one.
    due: (until, limit, wanted) => {
      if (limit > 1) asked.looks++
      return journal.due(until, limit, wanted)
    },
    read: counted(journal.read),
    last: counted(journal.last),
    head: counted(journal.head),
    list: counted(journal.list),
    ...(deaf ? { watchWakes: () => () => undefined } : {}),
  })
  return { asked, wrap }
}

/** A clock that somebody may set; timers go by the world's. */
const adjustable = (clock: Clock) => {
  let offsetMs = 0
  const own: Clock = { ...clock, now: () => clock.now() + offsetMs, elapsed: () => clock.now() }
  return { own, set: (ms: number) => void (offsetMs += ms) }
}

const setAlarm = async (world: World, host: Host) => {
  await outcome(world, host.send(address, { type: 'set' }))
}
/** Another process sets the alarm and is gone. */
const setElsewhere = async (world: World) => {
  const other = await world.host([alarm()])
  await setAlarm(world, other)
  await world.clock.until(other.close())
}
const leaveMemory = { limits: { idleMs: 60_000 } }

/** An alarm is set and asleep on a host whose clock somebody may set. */
const asleepByItsClock = async () => {
  const world = await aWorld()
  const puppets = new Puppets()
  const { own, set } = adjustable(world.clock)
  const host = await world.host([alarm(puppets)], { clock: own, ...leaveMemory })
  await setAlarm(world, host)
  await world.clock.advance(120_000)
  return { world, puppets, host, own, set }
}

describe('how often the journal is asked', () => {
  test('a host with nothing to wait for asks nothing, for as long as that may be', async () => {
    const world = await aWorld()
    const { asked, wrap } = watched()
    await world.host([alarm()], { journal: wrap })
    const atStart = { ...asked }

    await world.clock.advance(30 * dayMs)

    expect(atStart).toEqual({ looks: 1, other: 0 })
    expect(asked).toEqual(atStart)
  })

  test('an alarm that is hours away costs a look when it is set aside and one when it is due', async () => {
    const world = await aWorld()
    const puppets = new Puppets()
    const { asked, wrap } = watched()
    const host = await world.host([alarm(puppets)], { journal: wrap, ...leaveMemory })
    await setAlarm(world, host)

    await world.clock.advance(dayMs)

    expect(puppets.log).toHaveLength(1)
    expect(host.liveCount).toBe(0)
    expect(asked.looks).toBeLessThanOrEqual(5)
  })

  test('where other nodes write too, it is asked twice a minute, and nothing else is', async () => {
    const world = await aWorld()
    const { asked, wrap } = watched()
    await world.host([alarm()], { journal: wrap, placement: all })

    await world.clock.advance(dayMs)

    expect(asked.looks).toBeLessThanOrEqual(2 * 60 * 24 + 1)
    expect(asked.other).toBe(0)
  })
})

describe('a wake time that another process set', () => {
  test.each([
    ['is heard of at once', false],
    ['is found within half a minute by who hears nothing', true],
  ])('%s', async (_, deaf) => {
    const world = await aWorld()
    const { wrap } = watched({ deaf })
    await setElsewhere(world)
    const frames = await world.journal.read(address, 1)
    await world.journal.remove(address)
    const host = await world.host([alarm()], { journal: wrap, placement: all })
    for (const { seq, bytes } of frames) await world.journal.append(address, seq - 1, bytes, { wakeAt: 0, at: world.clock.now() })

    await world.clock.advance(deaf ? 31_000 : 1_000)

    expect(host.holds(address)).toBe(true)
  })

  test('rings in time where it was set for later', async () => {
    const world = await aWorld()
    const puppets = new Puppets()
    const began = world.clock.now()
    await world.host([alarm(puppets)], { placement: all })

    await setElsewhere(world)
    await world.clock.advance(8 * hourMs - (world.clock.now() - began) - 1)
    const early = [...puppets.log]
    await world.clock.advance(1_000)

    expect(early).toEqual([])
    expect(puppets.log).toHaveLength(1)
  })
})

describe('nothing is missed', () => {
  test('by a host that starts when it is long past', async () => {
    const world = await aWorld()
    const puppets = new Puppets()
    await setElsewhere(world)
    await world.clock.advance(dayMs)

    await world.host([alarm(puppets)])
    await world.clock.advance(1)

    expect(puppets.log).toHaveLength(1)
  })

  test('when the clock is set forward by hours: it rings within half a minute', async () => {
    const { world, puppets, host, set } = await asleepByItsClock()
    const asleep = host.liveCount

    set(8 * hourMs)
    await world.clock.advance(31_000)

    expect(asleep).toBe(0)
    expect(puppets.log).toHaveLength(1)
  })

  test('when the clock is set back: it rings when the clock says so, and what comes meanwhile is not put off', async () => {
    const { world, puppets, host, own, set } = await asleepByItsClock()

    set(-2 * hourMs)
    const other = { kind: 'alarm', id: 'two' }
    const [frame] = await world.journal.read(address, 1)
    await world.journal.append(other, 0, frame!.bytes, { wakeAt: 0, at: own.now() })
    await world.clock.advance(2_000)
    const woken = host.holds(other) || world.logged.some(({ fields }) => 'actor' in fields && fields.actor === 'alarm/two')
    await world.clock.advance(8 * hourMs - 130_000)
    const early = puppets.log.length
    await world.clock.advance(2 * hourMs + 60_000)

    expect(woken).toBe(true)
    expect(early).toBe(0)
    expect(puppets.log.length).toBeGreaterThan(0)
  })

  test('when its partition comes from another node, or it is deleted and begun anew', async () => {
    const world = await aWorld()
    const puppets = new Puppets()
    let mine = false
    const placement: Placement = { ...all, has: () => mine }
    const host = await world.host([alarm(puppets)], { placement, ...leaveMemory })
    await setElsewhere(world)
    await world.clock.advance(9 * hourMs)
    const before = puppets.log.length

    mine = true
    host.wakeNow(() => true)
    await world.clock.advance(1)
    const taken = puppets.log.length
    await outcome(world, host.send(address, { type: 'set' }))
    await world.clock.until(host.forget(address))
    await outcome(world, host.send(address, { type: 'set' }))
    await world.clock.advance(9 * hourMs)

    expect([before, taken, puppets.log.length]).toEqual([0, 1, 2])
  })

  test('when the journal is away at the moment: it is asked again a second later', async () => {
    const world = await aWorld()
    const puppets = new Puppets()
    let away = false
    const host = await world.host([alarm(puppets)], {
      ...leaveMemory,
      journal: (journal) => ({ ...journal, due: (...args) => (away ? Promise.reject(new Error('away')) : journal.due(...args)) }),
    })
    await setAlarm(world, host)
    await world.clock.advance(7 * hourMs)
    away = true
    await world.clock.advance(2 * hourMs)
    const before = puppets.log.length

    away = false
    await world.clock.advance(1_000)

    expect([before, puppets.log.length]).toEqual([0, 1])
  })
})
