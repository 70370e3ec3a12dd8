/** An order, as plain code around an agent of the OpenAI Agents SDK whose tool needs a yes. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, RunState, run, tool } from '@openai/agents'
import { z } from 'zod'
import { folder, main, shop } from '../world.mjs'
import { caller } from './model.mjs'

const ship = tool({
  name: 'ship',
  description: 'ships an order',
  parameters: z.object({ id: z.string(), item: z.string(), price: z.number() }),
  needsApproval: true,
  execute: (order, _, { toolCall }) => shop.ship(order, toolCall.callId),
})
const shipper = new Agent({
  name: 'shipper',
  instructions: 'Ship the order.',
  model: caller('shipper', (text) => [{ name: 'ship', input: JSON.parse(text) }]),
  tools: [ship],
})

const retried = async (attempts, pauseMs, work) => {
  for (let attempt = 1; ; attempt++)
    try {
      return await work()
    } catch (error) {
      if (attempt === attempts) throw error
      await sleep(pauseMs)
    }
}

// What waits for a person can be stored, by whoever writes the program; nothing before that is.
const file = `${folder}/waiting.json`
const settled = (result) => {
  if (result.interruptions.length === 0) return { state: 'done', data: JSON.parse(result.finalOutput)[0] }
  writeFileSync(file, result.state.toString())
  return { state: 'waiting' }
}
const begin = async () => {
  const order = await shop.fetch('o-17')
  await Promise.all([shop.checkStock(order), shop.checkFraud(order)])
  await retried(3, 50, () => shop.charge(order, 'o-17/charge'))
  await sleep(200)
  return settled(await run(shipper, JSON.stringify(order)))
}
const approve = async () => {
  const state = await RunState.fromString(shipper, readFileSync(file, 'utf8'))
  for (const interruption of state.getInterruptions()) state.approve(interruption)
  return settled(await run(shipper, state))
}

await main({
  begin,
  // Nothing in the library looks for runs that were cut off.
  boot: async () => undefined,
  resume: () => (existsSync(file) ? approve() : begin()),
  approve,
})
