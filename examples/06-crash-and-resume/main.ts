/** kill -9 in mid-tool. What may run again does; what must not waits for a person. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type Approval, agent, createRuntime, tool } from '../../src/index.ts'

const isVictim = process.argv[2] !== undefined
const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'statecast-'))

const slowTool = (name: string, onCrash: 'retry' | 'once') =>
  tool({
    name,
    description: `Takes its time; ${onCrash}.`,
    input: z.object({}),
    onCrash,
    execute: async (_, { attempt }) => {
      console.log(`${name} runs, attempt ${attempt}`)
      if (isVictim) await sleep(60_000)
      return 'done'
    },
  })

const runtime = await createRuntime({
  transport: `embedded:${isVictim ? folder : await afterTheCrash()}`, // takes up by itself what was cut off
  models: {
    'scripted/shop': ({ messages }) => {
      const results = messages.filter((message) => message.role === 'tool')
      if (results.length === 0) return { calls: [{ name: 'look_up' }, { name: 'charge' }] }
      return { text: results.map(({ name, output, isError }) => `${name}: ${isError ? 'in doubt' : String(output)}`).join(', ') }
    },
  },
  agents: [agent({ name: 'main', model: 'scripted/shop', tools: [slowTool('look_up', 'retry'), slowTool('charge', 'once')] })],
})
const session = runtime.session('ada')
const run = await session.send('One lamp, please.', { idempotencyKey: 'order-1' }) // both processes say it; it is one order
let asked: Approval | undefined
while (!asked) {
  await sleep(5)
  asked = (await session.view()).approvals.find(({ why }) => why === 'in_doubt')
}
console.log(`did ${asked.name} happen? nobody knows, so it is not run again: a person decides`)
await session.decide(asked, 'deny')
console.log(`${run.status}; ${(await run.result()).text}`)
console.log(`replay: ${(await runtime.replay(session.address)).verdict}`)
await runtime.close()
rmSync(folder, { recursive: true })

/** Runs this program on the folder in a process of its own, and kills it while both tools are at work. */
async function afterTheCrash(): Promise<string> {
  const victim = spawn(process.execPath, [import.meta.filename, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: victim.stdout })) {
    console.log(`victim: ${line}`)
    if (line.startsWith('charge')) victim.kill('SIGKILL')
  }
  return folder
}
