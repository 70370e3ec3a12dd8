/** A node of its own process that is killed, or goes on: it lives through scenarios one after the other, as it is told line by line. `node node.ts DEEDS` */
import { createInterface } from 'node:readline'
import { createRuntime, type Runtime } from '../../../src/index.ts'
import { ladder } from '../../../src/ladder/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { systemIds } from '../../../src/runtime/system-environment.ts'
import { appendLine } from '../../crash/lines.ts'
import { leftBy, plain } from './left.ts'
import { played, type Story } from './scenario.ts'
import { scenarios } from './scenarios.ts'

export type Order =
  | { open: { url: string; prefix: string; scenario: string } }
  | { seat: { kind: string; id: string } }
  | { play: true }
  | { close: true }
/** Of a node, to its prefix: `committing` for each commit that it is about to write. */
export type Word =
  | { said: 'up' | 'open' | 'committing' | 'closed' }
  | { said: 'seated'; mine: boolean }
  | { said: 'played'; result: unknown; left: object }

const [deeds = ''] = process.argv.slice(2)
const mark = `-p${process.pid}`
const say = (word: Word): void => void process.stdout.write(`${JSON.stringify(word)}\n`)
let life: { runtime: Runtime; story: Story } | undefined

const open = async ({ url, prefix, scenario }: { url: string; prefix: string; scenario: string }): Promise<void> => {
  const found = scenarios.find(({ name }) => name === scenario)
  if (!found) throw new Error(`there is no scenario '${scenario}'`)
  const story = found.made((what, name) => appendLine(deeds, { pid: process.pid, prefix, what, name }))
  const runtime = await createRuntime({
    transport: url,
    prefix,
    extensions: [ladder({ executables: story.executables }), ...(story.extensions ?? [])],
    models: story.models ?? {},
    environment: {
      // Whoever wrote a commit can be told from it.
      ids: { next: (kind) => `${systemIds.next(kind)}${mark}` },
      failPoints: { hit: (name) => (name === 'K02' ? say({ said: 'committing' }) : undefined) },
    },
  })
  life = { runtime, story }
  say({ said: 'open' })
}
const present = () => {
  if (!life) throw new Error('nothing is open')
  return life
}

/** Both nodes know of both, and have their share. */
const seat = async (address: { kind: string; id: string }): Promise<void> => {
  const { runtime } = present()
  while (runtime.nodes().filter(({ partitions }) => partitions > 16).length < 2) await new Promise((resolve) => setTimeout(resolve, 50))
  say({ said: 'seated', mine: partsOf(runtime).host.mayHave(address) })
}

const play = async (): Promise<void> => {
  const { runtime, story } = present()
  const result = await played(story, { runtime, clock: partsOf(runtime).environment.clock })
  say({ said: 'played', result: plain(result), left: await leftBy(runtime, story, ({ writer }) => (writer.endsWith(mark) ? 1 : 0)) })
}

const close = async (): Promise<void> => {
  await present().runtime.close()
  life = undefined
  say({ said: 'closed' })
}

say({ said: 'up' })
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order
  if ('open' in order) await open(order.open)
  else if ('seat' in order) await seat(order.seat)
  // The other one may be killed meanwhile; orders go on.
  else if ('play' in order) void play()
  else await close()
}
