/** A schedule whose process is killed before it is due. The next process makes up for it, once. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from '../../src/index.ts'
import { ladder } from '../../src/ladder.ts'
import { aNightly, report } from './reports.ts'

const [folder, due = '', patience] = process.argv.slice(2)
if (folder) await live(folder, new Date(due))
else await killOnce()

async function live(folder: string, due: Date): Promise<void> {
  const nightly = aNightly({ at: due })
  const runtime = await createRuntime({ transport: `embedded:${folder}`, extensions: [ladder({ executables: [report, nightly] })] })
  if (patience) {
    await nightly.next()
    console.log('it waits')
    await sleep(60_000)
  }
  for (const firing of await settled(nightly)) console.log(`one firing, by the ${firing.by}: ${firing.status}`)
  await runtime.close()
}

/** Its history, when no run is under way any more. */
async function settled(nightly: ReturnType<typeof aNightly>) {
  for (;;) {
    const firings = await nightly.history()
    if (firings.length > 0 && firings.every(({ status }) => status !== 'running')) return firings
    await sleep(20)
  }
}

async function killOnce(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-'))
  const due = Date.now() + 10_000
  await run(folder, due, 1, 'it waits')
  await sleep(Math.max(0, due + 100 - Date.now()))
  await run(folder, due, 2)
  await run(folder, due, 3)
  rmSync(folder, { recursive: true })
}

/** Starts this program on a folder and kills it when it says a certain word. */
async function run(folder: string, due: number, number: number, lastWord?: string): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename, folder, new Date(due).toISOString(), ...(lastWord ? ['patience'] : [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(`process ${number}: ${line}`)
    if (line !== lastWord) continue
    child.kill('SIGKILL')
    console.log(`process ${number}: killed before it was due`)
  }
}
