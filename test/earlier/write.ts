/**
 * Writes a data folder with the build of its checkout: `node test/earlier/write.ts FOLDER`. To add one of another revision, put this file and app.ts into
 * a checkout of it, run it there, and copy FOLDER/store to `test/earlier/<revision>/store`, without its lock.
 */
import { mkdirSync } from 'node:fs'
import { answers, open } from './app.ts'

const [folder = 'written'] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const runtime = await open(folder, folder)
for (const key of ['service', 'ann'])
  for (const nth of answers.keys()) {
    const person = { idempotencyKey: `a${nth}`, origin: { channel: 'test', to: 'ann', messageId: `m${nth}` }, streaming: nth % 2 === 0 }
    await (await runtime.session(key).send(`question ${nth}`, key === 'ann' ? person : {})).result()
  }
for (const item of ['kettle', 'cup']) await runtime.actor('order', 'o1').send({ type: 'add', item })
const waits = await runtime.session('waits').send('refund, please')
for await (const event of waits.events()) if (event.type === 'approval') break
const expires = await runtime.session('expires', { agent: 'plain' }).send('refund, please')
for await (const event of expires.events()) if (event.type === 'approval') break
await runtime.close()
process.exit(0)
