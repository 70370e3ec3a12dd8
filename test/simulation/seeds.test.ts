/** Deployments under chance: whatever crashes, freezes, jumps or gets lost, the promises hold. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { type Plan, type Scenario, shrink, simulate } from '../../src/testing/index.ts'
import { unpack } from '../checker/unpack.ts'
import { chooseSeeds } from '../support/seeds.ts'
import { shop } from './shop.ts'

const run = promisify(execFile)
const long = fileURLToPath(new URL('./long.ts', import.meta.url))
const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const { seed, cases } = chooseSeeds(import.meta.url)

test('[INV-1, INV-2, INV-4, INV-5, INV-6, INV-7, INV-13, INV-14] seeds of crashes, frozen nodes, lost answers and clock jumps break no promise', async () => {
  const { stdout } = await run(node, [long, '--from', String(seed), '--seeds', String(cases)]).catch((error: { stdout: string }) => error)

  expect(stdout.slice(-8000)).toContain(`${cases} seeds in `)
  expect(stdout.slice(-8000)).toContain(' 0 seeds with violations')
})

test('[INV-14] a clock that goes back by as much as its process was frozen hides nothing: who was replaced meanwhile does not act', async () => {
  const plan: Parameters<typeof simulate>[1] = {
    seed: 293852,
    acts: [
      { act: { do: 'post', session: 'bob', id: 'm0' }, afterMs: 0 },
      { act: { do: 'say', session: 'bob', id: 'm1', mode: 'collect', twice: false }, afterMs: 1 },
      { act: { do: 'post', session: 'cleo', id: 'm2' }, afterMs: 2500 },
    ],
    faults: [
      { at: 36, kind: 'join', ms: 20 },
      { at: 47, kind: 'away', ms: 300 },
      { at: 52, kind: 'clock jump', ms: 2000 },
      { at: 57, kind: 'pause', ms: 2000 },
    ],
  }

  expect((await simulate(shop, plan as never)).violations).toEqual([])
})

/** All frames of all journals of one simulation, as one text. */
const journalsOf = async (seed: number): Promise<string> => {
  let read: () => Promise<string[]> = async () => []
  const watched: typeof shop = {
    ...shop,
    begin(world) {
      read = async () => {
        const heads = await world.transport.journal.list()
        const frames = await Promise.all(heads.map(({ address }) => world.transport.journal.read(address, 1)))
        return frames.flat().map(({ bytes }) => Buffer.from(bytes).toString('base64'))
      }
      return shop.begin(world)
    },
  }
  const { story } = await simulate(watched, seed)
  return [...story, ...(await read())].join('\n')
}

test.each([3, 77, 1552])('[INV-17] the same seed writes the same journals, byte for byte, and tells the same story (%i)', async (seed) => {
  const first = await journalsOf(seed)

  expect(first.length).toBeGreaterThan(1000)
  expect(await journalsOf(seed)).toBe(first)
})

test('a seed that finds something shrinks to the acts and faults that it takes', async () => {
  // A world with a bug of its own: the third message and any crash together.
  const buggy: Scenario<number> = {
    acts: () => [1, 2, 3, 4, 5, 6, 7, 8],
    begin: (world) => {
      const seen: number[] = []
      let lives = 0
      return {
        runtime: () => {
          lives++
          return {}
        },
        perform: async (act) => {
          seen.push(act)
          // Whoever dies answers nobody.
          void world
            .someone()
            ?.session('s')
            .send(`act ${act}`)
            .catch(() => undefined)
        },
        settle: async () => undefined,
        check: () => (seen.includes(3) && lives > 2 ? ['the bug'] : []),
      }
    },
  }
  const fails = async (plan: Plan<number>) => (await simulate(buggy, plan)).violations.length > 0
  const faults = [
    { at: 2, kind: 'delay', ms: 20 },
    { at: 5, kind: 'crash before', ms: 1 },
    { at: 9, kind: 'lost answer', ms: 20 },
  ] as const
  const plan: Plan<number> = { seed: 1, acts: [1, 2, 3, 4, 5, 6, 7, 8].map((act) => ({ act, afterMs: 300 })), faults: [...faults] }
  expect(await fails(plan)).toBe(true)

  const small = await shrink(plan, fails)

  expect(small.acts.map(({ act }) => act)).toContain(3)
  expect(small.acts.length).toBeLessThan(5)
  expect(small.faults.map(({ kind }) => kind)).toEqual(['crash before'])
})

test('the judge reads MessagePack as the specification has it', () => {
  const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'))

  expect(unpack(bytes('93 01 d1 ff 00 a1 61'))).toEqual([1, -256, 'a'])
  expect(unpack(bytes('82 a1 61 c0 a1 62 cb 3f f8 00 00 00 00 00 00'))).toEqual({ a: null, b: 1.5 })
  expect(unpack(bytes('c7 04 45 81 a1 6b c3'))).toEqual({ k: true })
  expect(() => unpack(bytes('92 01'))).toThrow(RangeError)
  expect(() => unpack(bytes('01 02'))).toThrow('left over')
})
