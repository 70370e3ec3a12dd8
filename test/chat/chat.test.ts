/** What chat() takes is looked at where it is written: an option that it would not heed might let out what was to stay. */
import { expect, test } from 'vitest'
import { type ChatOptions, chat } from '../../src/chat.ts'
import { agent, createRuntime } from '../../src/index.ts'

const main = (settings: unknown) => ({ agents: { main: settings } })

test.each<[field: string | undefined, options: unknown, said: RegExp]>([
  // Where answers may go: what is misspelt would deny nothing.
  ['sendPolicy.0.action', { sendPolicy: [{ action: 'Deny', channel: 'mess' }] }, /"allow", "deny"/],
  ['sendPolicy.0.chanel', { sendPolicy: [{ action: 'deny', chanel: 'mess' }] }, /unknown field 'chanel'/],
  ['sendPolicy.0.chatType', { sendPolicy: [{ action: 'deny', chatType: 'groups' }] }, /"group"/],
  ['sendPolicy.0', { sendPolicy: [null] }, /action: 'deny'/],
  ['sendPolicy', { sendPolicy: 5 }, /a list/],
  // Options as a whole.
  [undefined, null, /chat\(\) takes/],
  [undefined, 5, /chat\(\) takes/],
  [undefined, [], /chat\(\) takes/],
  ['agnts', { agnts: {} }, /unknown field 'agnts'/],
  ['channels', { channels: 5 }, /a list/],
  ['channels.0', { channels: [null] }, /markdown, textMax, send/],
  ['agents', { agents: null }, /an object/],
  ['agents', { agents: 5 }, /an object/],
  // One agent, by the path of the field.
  ['agents.main', main(null), /an object/],
  ['agents.main', main(5), /an object/],
  ['agents.main.stepMax', main({ stepMax: 3 }), /leave the field out/],
  ['agents.main.choice', main({ choice: { allowed: ['t/m'] } }), /agent\(\{ name: 'main', choice/],
  ['agents.main.usage', main({ usage: 'lots' }), /"full"/],
  ['agents.main.delivery', main({ delivery: true }), /an object/],
  ['agents.main.delivery.strming', main({ delivery: { strming: true } }), /strming/],
  ['agents.main.delivery.streaming', main({ delivery: { streaming: 'often' } }), /boolean/],
  ['agents.main.heartbeat', main({ heartbeat: 5 }), /an object/],
  ['agents.main.heartbeat', main({ heartbeat: null }), /an object/],
  ['agents.main.heartbeat.evryMs', main({ heartbeat: { evryMs: 5000 } }), /evryMs/],
  ['agents.main.heartbeat.everyMs', main({ heartbeat: { everyMs: 10 } }), /at least 1000/],
  ['agents.main.heartbeat.everyMs', main({ heartbeat: { everyMs: '5000' } }), /number/],
  ['agents.main.heartbeat.everyMs', main({ heartbeat: { everyMs: 1e15 } }), /at most 31536000000/],
  ['agents.main.heartbeat.activeHours.start', main({ heartbeat: { activeHours: { start: 'eight', end: '20:00' } } }), /08:00/],
  ['agents.main.heartbeat.activeHours.end', main({ heartbeat: { activeHours: { start: '8:00', end: '25:00' } } }), /08:00/],
  [
    'agents.main.heartbeat.activeHours.timeZone',
    main({ heartbeat: { activeHours: { start: '22:00', end: '24:00', timeZone: 'Europe/Berlim' } } }),
    /Europe\/Berlin/,
  ],
  ['agents.main.heartbeat.target', main({ heartbeat: { target: 'ann' } }), /'last', 'none'/],
])('chat() refuses %s of %j', (field, options, said) => {
  const refused = (): unknown => {
    try {
      return chat(options as ChatOptions)
    } catch (error) {
      return error
    }
  }

  const error = refused() as { code: string; field: string | undefined; message: string; hint: string }
  expect(error).toMatchObject({ code: 'bad_request', field, hint: expect.any(String) })
  expect(`${error.message}; ${error.hint}`).toMatch(said)
})

test('the short form of createRuntime() takes no rule that chat() refuses', async () => {
  const sendPolicy = [{ action: 'deny', chanel: 'mess' }] as never

  await expect(createRuntime({ transport: 'memory:', agents: [agent({ name: 'main', model: 't/m' })], sendPolicy })).rejects.toMatchObject({
    code: 'bad_request',
    field: 'sendPolicy',
  })
})
