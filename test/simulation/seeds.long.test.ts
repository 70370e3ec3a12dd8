/** Deployments under chance, for longer: whatever crashes, freezes, jumps or gets lost, the promises hold. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { chooseSeeds } from '../support/seeds.ts'

const run = promisify(execFile)
const long = fileURLToPath(new URL('./long.ts', import.meta.url))
const heap = fileURLToPath(new URL('./heap.ts', import.meta.url))
const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))

/** From the first one on. */
const { seed: first, cases } = chooseSeeds(import.meta.url)
/** A commit plays some of them; `STATECAST_SWEEP=all` plays as many as the row says. */
const seeds = inject('sweep') === 'all' ? 2_000 : cases

test(`[SHOW-SEEDS, INV-1, INV-2, INV-4, INV-5, INV-6, INV-7, INV-13, INV-14] ${seeds} seeds from ${first} on of crashes, frozen nodes, lost answers and clock jumps break no promise`, {
  timeout: 1_800_000,
}, async () => {
  const { stdout } = await run(node, [long, '--from', String(first), '--seeds', String(seeds)]).catch((error: { stdout: string }) => error)

  expect(stdout.slice(-8000)).toContain(`${seeds} seeds in `)
  expect(stdout.slice(-8000)).toContain(' 0 seeds with violations')
})

test('what was simulated is let go, however many seeds one process plays', { timeout: 600_000 }, async () => {
  const { stdout } = await run(node, ['--expose-gc', heap])

  expect(Number(stdout)).toBeLessThan(6_000_000)
})
