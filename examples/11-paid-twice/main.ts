/** A session in which something went wrong, to be looked at in the inspector: a customer has got his money more than once. */
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createRuntime } from '../../src/index.ts'
import app from './refund.ts'

const folder = fileURLToPath(new URL('recorded', import.meta.url))
rmSync(folder, { recursive: true, force: true })
const runtime = await createRuntime({ ...app, transport: `embedded:${folder}` })

/** The bank says that it has paid, some time after each order. */
const bank: string[] = []
const refund = runtime.actor('refund', 'r-17')
const follow = async (): Promise<void> => {
  for (let paid = 0; ; ) {
    const { status, context } = await refund.snapshot()
    if (status !== 'active') return
    if (context.attempts > paid) {
      paid++
      bank.push(`paid ${context.amount} to the customer, receipt B-${1000 + paid}`)
      await refund.send({ type: 'receipt', number: `B-${1000 + paid}` })
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

await runtime.actor('refund', 'r-16').send({ type: 'ask', amount: 12 })
await refund.send({ type: 'ask', amount: 49.9 })
await refund.send({ type: 'approve', by: 'ann' })
await follow()
await runtime.close()

console.log('the bank, about refund r-17:')
for (const line of bank) console.log(`  ${line}`)
console.log(`why? npx statecast up --app examples/11-paid-twice/refund.ts --data examples/11-paid-twice/recorded
     and open what it prints behind "inspect", Others, refund r-17`)
