/** SCXML that we write says the same as the machine: another engine, fed with the same events, is in the same states. */
import { readFileSync } from 'node:fs'
import { compileFunction } from 'node:vm'
import { expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { type AnyStateMachine, createActor, createMachine, fromPromise } from 'xstate'
import { toConfig } from '../../../src/actors/charts/config.ts'
import { toScxml } from '../../../src/actors/charts/scxml.ts'
import { xmlText } from '../../../src/actors/charts/shown-text.ts'
import { nodesIn } from '../../../src/actors/state-nodes.ts'
import { machines } from '../../../src/all-machines.ts'
import { type Element, elementsOf, parseXml, withDescendants } from '../scxml/parse-xml.ts'
import { hard } from './hard-machines.ts'
import { playScxml, VirtualTimers } from './scion.ts'

/** As an attribute holds it: what XML cannot write is shown by a picture. */
const pictured = (id: string): string => parseXml(`<a id="${xmlText(id)}"/>`).attributes.id ?? ''

const pending = fromPromise<unknown, unknown>(() => new Promise(() => undefined))
type Anything = any

/** Numbers from 0 to 1, the same for the same seed. */
const chance = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 4_294_967_296
  return seed / 4_294_967_296
}

const guardsOf = (document: Element): string[] =>
  withDescendants(document).flatMap(({ attributes: { cond = '' } }) =>
    [...cond.matchAll(/guards\["((?:[^"\\]|\\.)*)"\]/g)].map(([, name]) => JSON.parse(`"${name}"`) as string),
  )

/**
 * What each guard says, by chance. What happens at once and leads nowhere must be off: XState stops where nothing changes, SCXML would do it for ever.
 * Actions of the author, which would end it, are not there.
 */
const chosenGuards = (document: Element, random: () => number): Record<string, boolean> | undefined => {
  const names = guardsOf(document)
  const endless = withDescendants(document)
    .filter(({ name, attributes }) => name === 'transition' && attributes.event === undefined && attributes.target === undefined)
    .map(
      ({ attributes: { cond = 'true' } }) => compileFunction(`return ${cond}`, ['guards', 'In']) as (guards: object, isIn: () => boolean) => boolean,
    )
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const guards = Object.fromEntries(names.map((name) => [name, random() < 0.5]))
    if (!endless.some((happens) => happens(guards, () => true))) return guards
  }
  return undefined
}

/** Without the author's code: guards say what they are told, actions do nothing but raise and cancel, actors never end. */
const bare = (machine: AnyStateMachine, guards: Record<string, boolean>): AnyStateMachine => {
  const { config, unnamed } = toConfig(machine)
  const { actions, actors, delays } = machine.implementations as unknown as Record<string, Record<string, Anything>>
  const quiet = {
    guards: Object.fromEntries(Object.entries(guards).map(([name, value]) => [name, () => value])),
    actions: Object.fromEntries(Object.entries(actions ?? {}).map(([name, action]) => [name, isWritten(action) ? action : () => undefined])),
    actors: Object.fromEntries(Object.keys(actors ?? {}).map((name) => [name, pending])),
    delays: Object.fromEntries(Object.entries(delays ?? {}).map(([name, delay]) => [name, typeof delay === 'number' ? delay : 1000])),
  }
  const all = unnamed.length > 0 ? machine.config : config
  return createMachine({ ...all, options: { maxIterations: 200 } } as Anything, quiet as Anything) as Anything
}
const isWritten = (action: Anything): boolean =>
  ['xstate.raise', 'xstate.cancel'].includes(action?.type) && typeof (action.event ?? action.sendId) !== 'function' && action.delay === undefined

type Engine = { send(type: string): void; advance(ms: number): void; active(): string[]; knows(type: string): boolean }

const xstate = (machine: AnyStateMachine): Engine => {
  // XState's own lets no timer begin before the end of a step.
  const clock = new VirtualTimers()
  const actor = createActor(machine, { clock: clock as Anything })
  actor.subscribe({ error: () => undefined })
  actor.start()
  const snapshot = () => actor.getSnapshot() as Anything
  return {
    send: (type) => actor.send({ type }),
    advance: (ms) => clock.advance(ms),
    active: () => {
      if (snapshot().status === 'error') throw snapshot().error
      return snapshot().status === 'done'
        ? ['end']
        : snapshot()
            ._nodes.map(({ id }: { id: string }) => pictured(id))
            .toSorted()
    },
    knows: (type) => machine.getTransitionData(snapshot(), { type }).length > 0,
  }
}

/** Under these guards its `always` never comes to an end. */
const turnsInCircles = (engine: Engine): boolean => {
  try {
    engine.active()
    return false
  } catch (error) {
    expect(String(error)).toMatch(/infinite loop/i)
    return true
  }
}

/** One walk by chance, in both. @returns how many steps were taken; none where the guards make the machine turn in circles */
const walk = async (machine: AnyStateMachine, seed: number): Promise<number> => {
  const random = chance(seed)
  const text = toScxml(machine)
  const document = parseXml(text)
  const guards = chosenGuards(document, random)
  if (!guards) return 0
  const original = new Map(withDescendants(document).map(({ attributes }) => [attributes.id, attributes.original ?? attributes.id]))
  const events = eventsOf(machine, document)
  const ours = xstate(bare(machine, guards))
  if (turnsInCircles(ours)) return 0
  const theirs = await playScxml(text, guards)
  const same = (after: string) => {
    const active = theirs.active().filter((id) => !id.startsWith('$generated'))
    expect(active.map((id) => original.get(id) ?? '').toSorted(), `${after}, with ${JSON.stringify(guards)}`).toEqual(ours.active())
    expect(theirs.problems).toEqual([])
  }
  same('at the beginning')
  for (let step = 1; step <= 30; step++) {
    const [type, name] = events[Math.floor(random() * events.length)] ?? ['', '']
    const ms = random() < 0.3 ? Math.floor(random() * 3000) : 0
    const passes = ms > 0 || type === ''
    if (!passes && !ours.knows(type) && type.startsWith('xstate.error.')) continue
    if (passes) ours.advance(ms)
    else ours.send(type)
    if (turnsInCircles(ours)) return step
    if (passes) theirs.advance(ms)
    else theirs.send(name)
    same(`step ${step}, ${ms > 0 ? `${ms} ms` : type}`)
    if (ours.active()[0] === 'end') return step
  }
  return 30
}

/** Events that the machine names, with what SCXML calls them; done.state and timers come by themselves. */
const eventsOf = (machine: AnyStateMachine, document: Element): [string, string][] => {
  const states = withDescendants(document)
  const pairs = [...nodesIn(machine.root)].flatMap((node) => {
    const state = states.find(({ attributes }) => (attributes.original ?? attributes.id) === pictured(node.id))
    const names = elementsOf(state as Element, 'transition')
    const ids = elementsOf(state as Element, 'invoke').map(({ attributes }) => attributes.id as string)
    const said = names.flatMap(({ attributes: { event = '', original: own } }): [string, string][] => (event === '' ? [] : [[own ?? event, event]]))
    const invoked = node.invoke.flatMap(({ id }, index): [string, string][] => [
      [`xstate.done.actor.${id}`, `done.invoke.${ids[index]}`],
      [`xstate.error.actor.${id}`, `error.invoke.${ids[index]}`],
    ])
    return [...said.filter(([type]) => !/^(?:done|error|after|snapshot)\./.test(type)), ...invoked]
  })
  return pairs.map(([type, name]) => [type.replace('*', 'unheard.of'), name.replace('*', 'unheard.of')])
}

test.each(Object.entries({ ...hard, ...machines }))('%s: SCION is in the same states as XState, whatever happens', async (_, machine) => {
  let steps = 0
  for (let seed = 1; seed <= 3; seed++) steps += await walk(machine, seed)

  expect(steps).toBeGreaterThan(0)
})

const schema = readFileSync(new URL('./scxml.xsd', import.meta.url), 'utf8')
/** What is wrong with a document; that references lead somewhere, no schema of this kind says of lists. */
const problems = async (contents: string): Promise<string[]> => {
  const { errors } = await validateXML({ xml: [{ fileName: 'machine.scxml', contents }], schema: [schema] })
  const all = withDescendants(parseXml(contents))
  const ids = all.flatMap(({ attributes: { id }, name }) => (id === undefined || name === 'send' ? [] : id))
  const targets = all.flatMap(({ attributes: { target = '', initial = '' }, name }) =>
    name === 'send' ? [] : `${target} ${initial}`.split(' ').filter(Boolean),
  )
  return [
    ...errors.map(({ message }) => message),
    ...ids.filter((id, index) => ids.indexOf(id) < index).map((id) => `${id} is there twice`),
    ...targets.filter((target) => !ids.includes(target)).map((target) => `there is no ${target}`),
  ]
}

test.each(Object.entries({ ...hard, ...machines }))(
  '%s: elements hold what SCXML wants in them, ids are unique and targets are there',
  async (_, machine) => {
    expect(await problems(toScxml(machine))).toEqual([])
  },
)

test.each([
  ['target="tool.denied"', 'target="nowhere"'],
  ['<state id="tool.checking"', '<state id="tool.admission"'],
  ['<log ', '<print '],
  ['event="cancel"', 'event="can&lt;cel now"'],
  [' version="1.0" d', ' version="2.0" d'],
])('what is wrong is seen: %s', async (from, to) => {
  const document = toScxml(machines.tool as AnyStateMachine)

  expect(document).toContain(from)
  expect(await problems(document.replace(from, to))).not.toEqual([])
})
