/** A machine of your own, made durable by being registered: three processes, one order. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime } from '../../src/index.ts'
import { orderMachine } from './order.machine.ts'

const [folder] = process.argv.slice(2)
if (folder) await live(folder)
else await killTwice()

/** What each process does: opens the folder, which takes up whatever was cut off, and says what the order still needs to be told. */
async function live(folder: string): Promise<void> {
  const runtime = await createRuntime({ transport: `embedded:${folder}`, machines: { order: orderMachine } })
  const order = runtime.actor('order', 'o-17', { item: 'lamp' })
  await order.send({ type: 'place' }, { id: 'place' }) // under an id, so that saying it again changes nothing
  while ((await order.snapshot()).value !== 'reminded') await sleep(10)
  await order.send({ type: 'pay' })
  console.log(`paid: ${JSON.stringify(await order.output())}`)
  console.log(`replay: ${(await runtime.replay(order.address)).verdict}`)
  await runtime.close()
}

async function killTwice(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-'))
  await run(folder, 1, 'reserve') // dies while the promise runs
  await run(folder, 2, 'shelf') // dies while the timer of `unpaid` runs
  await run(folder, 3)
  rmSync(folder, { recursive: true })
}

/** Starts this program on a folder and kills it when it says a certain word. */
async function run(folder: string, number: number, lastWord?: string): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(`process ${number}: ${line}`)
    if (!lastWord || !line.startsWith(lastWord)) continue
    child.kill('SIGKILL')
    console.log(`process ${number}: killed`)
  }
}
