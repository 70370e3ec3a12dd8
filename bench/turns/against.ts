/** The turns of against.ts, by the sources of the tree that it is told. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Channel } from '../../src/index.ts'
import type { AgainstInput, AgainstOutput } from '../against.ts'
import { serve } from '../child.ts'

const sessions = 50

/** Takes what it is given at once. */
const people: Channel = {
  id: 'people',
  markdown: true,
  textMax: 4000,
  repeatable: true,
  settings: { streaming: true },
  send: () => Promise.resolve(undefined),
  typing: () => Promise.resolve(),
}
let asked = 0

serve<AgainstInput>(async ({ root, where, turns, channel }): Promise<AgainstOutput> => {
  // Both trees have these names.
  const { createRuntime, agent } = (await import(pathToFileURL(join(root, 'src/index.ts')).href)) as typeof import('../../src/index.ts')
  const folder = mkdtempSync(join(tmpdir(), 'statecast-against-turns-'))
  const runtime = await createRuntime({
    transport: where === 'memory' ? 'memory:' : `embedded:${folder}`,
    agents: [agent({ name: 'main', model: 'test/m', instructions: 'x', tools: [] })],
    models: { 'test/m': () => ({ text: 'hello there', usage: { inputTokens: 10, outputTokens: 5 } }) },
    ...(channel ? { channels: [people] } : {}),
  })
  const turn = async (place: number) => {
    const who = `s${place % sessions}`
    const options = channel ? { origin: { channel: 'people', to: who, messageId: `m${asked++}` } } : {}
    return (await runtime.session(who).send(`hello ${place}`, options)).result()
  }
  for (let place = 0; place < turns / 4; place++) await turn(place)
  const began = performance.now()
  for (let place = 0; place < turns; place++) await turn(place)
  const between = performance.now()
  for (let place = 0; place < turns; place += sessions) await Promise.all(Array.from({ length: sessions }, (_, more) => turn(place + more)))
  const ended = performance.now()
  await runtime.close()
  rmSync(folder, { recursive: true, force: true })
  return { alone: ((between - began) * 1000) / turns, together: ((ended - between) * 1000) / turns }
})
