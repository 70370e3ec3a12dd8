/** Starts the worker again and again, each time to be killed in another way, and at last lets it come to its end. */

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dieWithUs } from '../support/guard.ts'
import { check, type Verdict } from './check.ts'
import type { Scenario } from './client.ts'

/** How one process dies: at fail points (`K07:1:kill`), in the middle of a tool, or so many ms after it began. `drain` sends it a SIGTERM first. */
export type Kill = { at?: string; inTool?: string; afterMs?: number; drain?: boolean }
export type Plan = { kills: Kill[]; scenario?: Scenario; inDoubt?: 'approve' | 'deny' }

export type Death = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }
export type Story = Verdict & { deaths: Death[]; folder: string; hits: Record<string, number> }

const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const worker = fileURLToPath(new URL('./worker.ts', import.meta.url))
const patienceMs = 120_000

export const aFolder = (): string => mkdtempSync(join(tmpdir(), 'statecast-crash-'))

const runWorker = (folder: string, { scenario = 'approve', inDoubt = 'deny' }: Plan, kill: Kill = {}): Promise<Death> =>
  new Promise((resolve, reject) => {
    const { STATECAST_FAILPOINTS: _, ...env } = process.env
    const child = spawn(node, [worker, folder, scenario, inDoubt], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...env,
        ...(kill.at ? { STATECAST_FAILPOINTS: kill.at } : {}),
        ...(kill.inTool ? { CRASH_IN_TOOL: kill.inTool } : {}),
        ...(kill.drain ? { CRASH_DRAIN: '1' } : {}),
      },
    })
    if (child.pid !== undefined) child.once('exit', dieWithUs(child.pid))
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => (stdout += chunk))
    child.stderr.on('data', (chunk) => (stderr += chunk))
    const timer = setTimeout(() => child.kill('SIGKILL'), kill.afterMs ?? patienceMs)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ code, signal, stdout, stderr })
    })
  })

/** Plays a plan to its end and judges it. The folder is kept when it was given, or when something is wrong with it. */
export const play = async (plan: Plan, given?: string): Promise<Story> => {
  const folder = given ?? aFolder()
  const deaths: Death[] = []
  for (const kill of plan.kills) deaths.push(await runWorker(folder, plan, kill))
  const end = await runWorker(folder, plan)
  const verdict = judge(folder)
  const said = end.stdout.split('\n').findLast((line) => line.startsWith('{"done"'))
  const { replay, hits = {}, difference } = JSON.parse(said ?? '{}') as { replay?: string; hits?: Story['hits']; difference?: unknown }
  if (end.code !== 0 || said === undefined)
    verdict.violations.push(`the last process did not come to its end: code ${end.code}, signal ${end.signal}, ${end.stderr.slice(-2000)}`)
  else if (replay !== 'identical') verdict.violations.push(`replay says ${replay}: ${JSON.stringify(difference)}`)
  if (given === undefined && verdict.violations.length === 0) rmSync(folder, { recursive: true, force: true })
  return { ...verdict, deaths, folder, hits }
}

const judge = (folder: string): Verdict => {
  try {
    return check(folder)
  } catch (error) {
    return { violations: [`what is left cannot be read: ${String(error)}`], commits: 0, epochs: 0, executions: 0, answered: 0 }
  }
}

/** Whether a process was killed at this very fail point, by its own last word. */
export const diedAt = ({ signal, stderr }: Death, name: string, hit: number): boolean =>
  signal === 'SIGKILL' && stderr.includes(`fail point ${name}, hit ${hit}: kill`)

/** Mulberry32: the same kills for the same seed. */
export const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
