/** An agent with a tool, an agent inside, and a call that waits for a person. */
import { z } from 'zod'
import { tool } from '../../../src/index.ts'
import { agent, subAgent } from '../../../src/ladder/index.ts'
import { besides, type Did, placeOf, type Scenario, type Story, usage } from './scenario.ts'

const comesTo = { data: { paid: 7 }, usage: { total: 60 }, report: { trips: 4, children: [{ name: 'look' }, { name: 'help' }, { name: 'pay' }] } }

export const clerk: Scenario = { name: 'agent', comesTo, made: (did) => aClerk(did, 'retry') }
/** Its tool may run once: where nobody knows whether it has, the person says no. */
export const careful: Scenario = {
  name: 'agent with a tool that runs once',
  comesTo,
  doubtful: { tool: 'pay', actors: /^clerk r (?:\/$|\/ask#1\/loop#1\/tool-0#2)/ },
  made: (did) => aClerk(did, 'once'),
}

const aClerk = (did: Did, onCrash: 'retry' | 'once'): Story => {
  const look = tool({
    name: 'look',
    description: 'Looks.',
    input: z.object({}),
    onCrash: 'retry',
    execute: (_, { callId }) => (did('code', `look ${callId}`), 'seen'),
  })
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ sum: z.number() }),
    approval: true,
    onCrash,
    execute: ({ sum }, { callId }) => (did(onCrash === 'once' ? 'once' : 'code', `pay ${sum} ${callId}`), 'paid'),
  })
  const help = subAgent({ name: 'help', model: 'test/help', tools: [look] })
  const toolExecution = onCrash === 'once' ? 'parallel' : 'sequential'
  const tools = [look, help, pay]
  const boss = agent({ name: 'clerk', model: 'test/clerk', tools, toolExecution, output: z.object({ paid: z.number() }), repair: 1 })

  /** Says yes to what waits, and no to what may have run. */
  const decide = async () => {
    for (const { callId, why } of await boss.pending('r'))
      await boss.decide('r', { callId, by: 'ann', decision: why === 'in_doubt' ? 'deny' : 'approve' })
  }
  return {
    executables: [boss],
    effects: /\/execute#\d+$/,
    models: {
      'test/clerk': (request) => {
        const place = placeOf(request)
        did('model', `clerk ${place}`)
        return (
          [
            { calls: [{ name: 'look' }, { name: 'help', input: { task: 'dig' } }], usage },
            { calls: [{ name: 'pay', input: { sum: 7 } }], usage },
            { text: 'seven', usage },
          ].at(place) ?? { text: '{"paid":7}', usage }
        )
      },
      'test/help': (request) => {
        const place = placeOf(request)
        did('model', `help ${place}`)
        return place === 0 ? { calls: [{ name: 'look' }], usage } : { text: 'helped', usage }
      },
    },
    play: (at) => besides(at, boss.execute('pay', { runId: 'r' }), decide),
  }
}
