import { expect, test } from 'vitest'
import { createMachine } from 'xstate'
import { chart } from '../../../src/actors/charts/chart.ts'
import { toMermaid } from '../../../src/actors/charts/mermaid.ts'

const draw = (config: Parameters<typeof createMachine>[0], options?: Parameters<typeof toMermaid>[1]) =>
  toMermaid(chart(createMachine(config)), options)

test('a nested machine with guards, timers, history and ends reads as one would write it by hand', () => {
  const text = draw({
    id: 'door',
    initial: 'closed',
    states: {
      closed: {
        entry: ['ring', 'look'],
        on: {
          slam: {},
          open: { target: 'open', guard: 'unlocked', actions: ['squeak', 'log'] },
          knock: { actions: 'ring' },
        },
        after: { 60000: 'gone' },
      },
      open: {
        initial: 'wide',
        on: { close: 'closed', resume: '.was' },
        states: { wide: { on: { push: 'ajar' } }, ajar: { invoke: { src: 'wind', onDone: '#door.gone' } }, was: { type: 'history' } },
      },
      gone: { type: 'final' },
    },
  })

  expect(text).toBe(`stateDiagram-v2
  [*] --> door_closed
  state "closed" as door_closed
  door_closed : entry / ring, look
  door_closed : slam (ignored)
  door_closed : knock / ring
  state "open" as door_open {
    [*] --> door_open_wide
    state "wide" as door_open_wide
    state "ajar" as door_open_ajar
    door_open_ajar : invoke wind
    state "H" as door_open_was
    state "open (anywhere)" as door_open__anywhere
    door_open__anywhere --> door_open_was : resume
    door_open_wide --> door_open_ajar : push
  }
  state "gone" as door_gone
  door_gone --> [*]
  door_closed --> door_open : open [unlocked] / squeak, log
  door_closed --> door_gone : after 1 min
  door_open --> door_closed : close
  door_open_ajar --> door_gone : done(wind)
  classDef anywhere fill:none,stroke-dasharray:4 4
  class door_open__anywhere anywhere
`)
})

test('regions of a parallel state are separated, and a machine that is parallel itself gets a frame', () => {
  const text = draw({ id: 'm', type: 'parallel', on: { reset: '.a.x' }, states: { a: { initial: 'x', states: { x: {} } }, b: {} } })

  expect(text).toBe(`stateDiagram-v2
  [*] --> m
  state "m" as m {
    state "m (anywhere)" as m__anywhere
    --
    state "a" as m_a {
      [*] --> m_a_x
      state "x" as m_a_x
    }
    --
    state "b" as m_b
  }
  m__anywhere --> m_a_x : reset
  classDef anywhere fill:none,stroke-dasharray:4 4
  class m__anywhere anywhere
`)
})

test('a machine without states is one state', () => {
  expect(draw({ id: 'echo', on: { '*': { actions: 'reply' } } })).toBe(`stateDiagram-v2
  [*] --> echo
  state "echo" as echo
  echo : any event / reply
`)
})

test('an edge never leads from a composite into itself, nor from inside to the composite around it', () => {
  const text = draw({
    id: 'm',
    initial: 'outer',
    states: {
      outer: {
        initial: 'in',
        on: { again: { target: 'outer', reenter: true } },
        states: { in: { on: { back: '#m.outer' } }, next: { on: { back: '#m.outer' } } },
      },
    },
  })

  expect(text).toContain('m_outer__anywhere : again (enters again)')
  expect(text).toContain('m_outer_next --> m_outer_in : back')
  expect(text).not.toMatch(/--> m_outer :/)
})

test('only the innermost active states are lit', () => {
  const config = { id: 'm', initial: 'a', states: { a: { initial: 'x', states: { x: {}, y: {} } }, b: {} } }

  expect(draw(config, { active: { a: 'y' } })).toMatch(/ {2}class m_a_y active\n$/)
  expect(draw(config, { active: 'b' })).toMatch(/ {2}class m_b active\n$/)
  expect(draw(config)).not.toContain('active')
})

test('ids that mean something to Mermaid, or that become equal, are told apart; labels cannot break out', () => {
  const text = draw({
    id: 'm',
    initial: 'one',
    states: {
      one: { id: 'end', on: { 'a::b; [*] --> x\n<b>%%{init}%%:': { target: 'two', guard: 'g' } } },
      two: { id: 'a-b' },
      three: { id: 'a.b' },
      'say "hi"': { id: '9' },
    },
  })

  expect(text).toContain('state "one" as s_end\n')
  expect(text).toContain('state "two" as a_b\n')
  expect(text).toContain('state "three" as a_b_2\n')
  expect(text).toContain(`state "say 'hi'" as s_9\n`)
  expect(text).toContain('s_end --> a_b : a:b, [*] --› x,‹b›%{init}%: [g]\n')
})
