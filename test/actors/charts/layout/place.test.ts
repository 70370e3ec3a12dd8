/** Charts as pictures: everything is drawn once, nothing stands on anything else, and it is the same each time. */
import ELK from 'elkjs/lib/elk.bundled.js'
import { expect, test } from 'vitest'
import { createMachine } from 'xstate'
import { cachingElk } from '../../../../scripts/caching-elk.ts'
import {
  type ChartNode,
  chart,
  type Elk,
  type Level,
  type PlacedBox,
  type PlacedChart,
  placeChart,
  toSvg,
  transitionsOf,
} from '../../../../src/actors/index.ts'
import { machines } from '../../../../src/all-machines.ts'

const elk = new (ELK as unknown as new () => Elk)()
const levels: Level[] = ['overview', 'labels']

/** With all that a chart can have. */
const everything = createMachine({
  id: 'everything',
  type: 'parallel',
  states: {
    money: {
      initial: 'open',
      states: {
        open: { on: { pay: [{ guard: 'isEnough', target: 'paid' }, { actions: 'note' }] } },
        paid: { type: 'final' },
        was: { type: 'history', history: 'deep', target: 'open' },
      },
      on: { again: '.was' },
    },
    parcel: {
      initial: 'waiting',
      states: { waiting: { after: { 1000: 'sent' } }, sent: { always: { guard: 'isThere', target: 'there' }, on: { back: 'waiting' } }, there: {} },
    },
  },
  on: { cancel: '.money.open' },
})

const all = Object.entries({ ...machines, everything }).flatMap(([name, machine]) => levels.map((level) => ({ name, level, machine })))

const nodesOf = (node: ChartNode): ChartNode[] => [node, ...node.states.flatMap(nodesOf)]
const drawnRefs = ({ boxes, wires, rows }: PlacedChart): string[] =>
  [
    ...wires.flatMap(({ transitions }) => transitions),
    ...boxes.flatMap((box) => [...box.stays, ...box.rows.flatMap((row) => row.chips.flatMap(({ transitions }) => transitions))]),
    ...rows.flatMap((row) => row.chips.flatMap(({ transitions }) => transitions)),
  ].map(({ ref }) => JSON.stringify(ref))

const isWithin = (inner: PlacedBox, outer: PlacedBox): boolean =>
  inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width && inner.y + inner.height <= outer.y + outer.height
const isApart = (a: PlacedBox, b: PlacedBox): boolean =>
  a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y

/** As ELK lays it out, or has laid out the same graph before. */
const placedCharts = new Map<string, Promise<PlacedChart>>()
const placedOf = ({ name, level, machine }: (typeof all)[number]): Promise<PlacedChart> => {
  const key = `${name}, ${level}`
  const placed = placedCharts.get(key) ?? placeChart(cachingElk, chart(machine), level)
  placedCharts.set(key, placed)
  return placed
}

test.each(all)('$name, $level: every state is drawn, each within or beside the others, and within the picture', async (one) => {
  const drawn = chart(one.machine)
  const placed = await placedOf(one)

  const [root, ...states] = nodesOf(drawn.root).map(({ id }) => id)
  expect(new Set(placed.boxes.map(({ id }) => id))).toEqual(new Set(states.length > 0 ? states : [root]))
  expect(placed.boxes).toHaveLength(Math.max(states.length, 1))
  for (const [index, box] of placed.boxes.entries()) {
    expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= placed.width && box.y + box.height <= placed.height, box.id).toBe(true)
    for (const other of placed.boxes.slice(index + 1)) {
      const isInside = other.id.startsWith(`${box.id}.`)
      expect(isInside ? isWithin(other, box) : isApart(box, other), `${box.id} and ${other.id}`).toBe(true)
    }
  }
})

test.each(all)('$name, $level: every transition can be found, ends that many lead to aside', async (one) => {
  const drawn = chart(one.machine)
  const placed = await placedOf(one)

  const found = new Set(drawnRefs(placed))
  const ended = new Set(placed.boxes.flatMap(({ lines }) => lines.flatMap(({ transitions }) => transitions.map(({ ref }) => JSON.stringify(ref)))))
  const missing = nodesOf(drawn.root)
    .flatMap(transitionsOf)
    .filter(
      ({ ref, targets }) => !found.has(JSON.stringify(ref)) && !ended.has(JSON.stringify(ref)) && !(one.level === 'overview' && targets.length > 0),
    )
  expect(missing.map(({ ref }) => ref)).toEqual([])
})

test('a layout is the same each time, and knows regions, histories and ends', async () => {
  const drawn = chart(everything)
  const [one, other] = [await placeChart(elk, drawn, 'labels'), await placeChart(elk, drawn, 'labels')]

  expect(other).toEqual(one)
  expect(one.boxes.filter(({ region }) => region).map(({ id }) => id)).toEqual(['everything.money', 'everything.parcel'])
  expect(one.boxes.find(({ id }) => id === 'everything.money.was')).toMatchObject({ type: 'history', history: 'deep' })
  expect(one.wires.map(({ source, target }) => `${source} ${target}`)).toContain('everything.parcel.sent everything.parcel.there')
})

test('names of whatever kind are text in the file, and nobody can hide anything in them', async () => {
  const hostile = '<script>alert(1)</script>"\'&]]>\u202Egnp\u0000\u001b[31m'
  const machine = createMachine({ id: hostile, initial: 'a', states: { a: { description: hostile, on: { [hostile]: hostile } }, [hostile]: {} } })

  const svg = toSvg(await placeChart(elk, chart(machine), 'labels'), { active: [`${hostile}.a`] })

  expect(svg).not.toMatch(/<script|\p{Cf}/u)
  expect(Array.from(svg).filter((character) => character < ' ' && character !== '\n')).toEqual([])
  expect(svg).toContain('&lt;script&gt;')
  expect(svg).toContain('[U+202E]')
  expect(svg.match(/ active"/g)).toHaveLength(1)
})
