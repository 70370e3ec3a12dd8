/** A workflow that is killed in the middle and goes on in another process, where it was. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createRuntime } from '../../src/index.ts'
import { ladder } from '../../src/ladder.ts'
import { fulfil } from './fulfil.ts'

const [folder, patience] = process.argv.slice(2)
if (folder) await live(folder)
else await killOnce()

async function live(folder: string): Promise<void> {
  const runtime = await createRuntime({ transport: `embedded:${folder}`, extensions: [ladder({ executables: [fulfil] })] })
  // The same run whoever asks: the second process attaches to it.
  const { data, report } = await fulfil.execute({ item: 'lamp', price: 49.9 }, { runId: 'o-17', context: { patience } })
  console.log(`${report.status}: ${String(data)}`)
  for (const { name, status, attempts } of report.children) console.log(`  ${name} ${status}, attempts ${attempts}`)
  console.log(`replay: ${(await runtime.replay({ kind: 'fulfil', id: 'o-17' })).verdict}`)
  await runtime.close()
}

async function killOnce(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-'))
  await run(folder, 1, 'ship')
  await run(folder, 2)
  rmSync(folder, { recursive: true })
}

/** Starts this program on a folder and kills it when it says a certain word. */
async function run(folder: string, number: number, lastWord?: string): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename, folder, ...(lastWord ? ['patience'] : [])], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(`process ${number}: ${line}`)
    if (!lastWord || !line.startsWith(lastWord)) continue
    child.kill('SIGKILL')
    console.log(`process ${number}: killed`)
  }
}
