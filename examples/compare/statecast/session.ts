/** A conversation whose old part becomes a summary, as a session of Statecast. */
import { setTimeout as pause } from 'node:timers/promises'
import { agent, createRuntime, type Runtime } from '../../../src/index.ts'
import { folder, main } from '../world.mjs'
import { models } from './models.ts'

const chat = agent({ name: 'chat', model: 'fake/chat', instructions: 'You help customers.' })

const open = () => createRuntime({ transport: `embedded:${folder}/store`, agents: [chat], models })

const talk = async (runtime: Runtime, from: number) => {
  const session = runtime.session('s-1')
  let data: string | undefined
  for (let turn = from; turn <= 8; turn++) {
    data = (await (await session.send(`message ${turn}`)).result()).text
    if ((await session.history()).length >= 7) await session.compact()
  }
  return { state: 'done', data }
}

await main({
  begin: async () => talk(await open(), 1),
  // The turn that was cut off goes on as soon as the runtime is there.
  async boot() {
    const session = (await open()).session('s-1')
    while ((await session.view()).state !== 'awaiting-input') await pause(10)
    return { state: 'done' }
  },
  resume: async (turn) => talk(await open(), Number(turn)),
})
