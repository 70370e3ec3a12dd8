/** One program in a process of its own, which may be killed while it hangs at a place. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

/** @property state `waiting` for a person, `done`, or `nothing`: there was nothing to go on with */
export type Told = { state: string; data?: unknown; killed?: true }

export type Program = { file: string; env: Record<string, string> }

/** What is done at the same time as what hangs gets as long as this to be stored, in ms. */
const settleMs = 1_000
const patienceMs = 60_000

/** @param hold the place of the world at which it is killed @throws Error with what it said when it fails */
export const start = async (
  { file, env }: Program,
  folder: string,
  verb: string,
  { hold, from }: { hold?: string; from?: number } = {},
): Promise<Told> => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, verb, ...(from === undefined ? [] : [String(from)])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env, COMPARE_FOLDER: folder, STATECAST_LOG: 'error', ...(hold === undefined ? {} : { COMPARE_HOLD: hold }) },
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)))
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
  const late = setTimeout(() => child.kill('SIGKILL'), patienceMs)
  let told: Told | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{"state"')) told = JSON.parse(line) as Told
    if (!line.startsWith('holding at ')) continue
    await pause(settleMs)
    child.kill('SIGKILL')
    told = { state: 'killed', killed: true }
  }
  const code = await closed
  clearTimeout(late)
  if (told === undefined) throw new Error(`${file} ${verb} ended with ${code} and no answer: ${said.trim().split('\n').slice(-6).join(' | ')}`)
  return told
}
