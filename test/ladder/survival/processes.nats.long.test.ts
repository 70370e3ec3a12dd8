/** Two nodes, each in a process of its own: the one that has the run is killed (`kill -9`) at moments that a seed chooses, and the other one goes on. One run covers half of the scenarios. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLines } from '../../crash/lines.ts'
import { seeded } from '../../crash/runs.ts'
import { ownNats } from '../../support/nats.ts'
import { chooseSeeds } from '../../support/seeds.ts'
import { choosePart } from '../../support/share.ts'
import { careful } from './agents.ts'
import type { Left } from './left.ts'
import { inMemory, livedThrough, type Told } from './lives.ts'
import { aLiveNode, type LiveNode } from './nodes.ts'
import type { Deed, Scenario } from './scenario.ts'
import { session } from './sessions.ts'
import { desk } from './supervisors.ts'
import { expectTheSame } from './sweep.ts'
import { shop } from './workflows.ts'

const server = ownNats({ jetStreamConfig: 'sync_interval: 2m' })
const { seed, cases: kills } = chooseSeeds(import.meta.url)

/** The one that has the actor first. For a moment neither may have it, or both may. */
const byOwner = async (nodes: readonly LiveNode[], root: { kind: string; id: string }): Promise<[LiveNode, LiveNode]> => {
  for (;;) {
    for (const node of nodes) node.tell({ seat: root })
    const [first, second] = nodes as [LiveNode, LiveNode]
    const [isFirst, isSecond] = [(await first.hear('seated')).mine, (await second.hear('seated')).mine]
    if (isFirst !== isSecond) return isFirst ? [first, second] : [second, first]
  }
}

/** By the run that is killed with its node; what that has begun as roots of their own is wherever it is. */
const roots: [Scenario, { kind: string; id: string }][] = [
  [careful, { kind: 'clerk', id: 'r' }],
  [shop, { kind: 'shop', id: 'r' }],
  [desk, { kind: 'desk', id: 'r' }],
  [session, { kind: 'office', id: 's' }],
]

const part = choosePart(import.meta.url, 2)
const chosen = roots.map(([scenario, root], place) => ({ name: scenario.name, scenario, root, place })).filter(({ place }) => part.includes(place))

test.concurrent.for(chosen)(
  `[WL-025, WL-080, WL-101, WL-113, WL-125] $name: its node is killed -9 ${kills} times, and each time the other one comes to the same report and trace; nothing that was written down is paid or done again (seed ${seed})`,
  { timeout: 1_200_000 },
  async ({ name, scenario, root, place }, { onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), 'statecast-killed-'))
    const deeds = join(folder, 'deeds')
    const nodes: LiveNode[] = [aLiveNode(deeds), aLiveNode(deeds)]
    onTestFinished(async () => {
      for (const node of nodes) await node.kill()
      rmSync(folder, { recursive: true, force: true })
    })
    const calm = (await livedThrough(scenario, inMemory())) as Told
    const random = seeded(seed + place)
    let inTheMiddle = 0
    for (let round = 1; round <= kills; round++) {
      const prefix = `killed${place}x${round}`
      const at = 1 + Math.floor(random() * (calm.commits - 1))
      const afterMs = Math.floor(random() * 20)
      for (const node of nodes) node.tell({ open: { url: server.url, prefix, scenario: name } })
      for (const node of nodes) await node.hear('open')
      const [owner, other] = await byOwner(nodes, root)
      // Whoever asked dies with the run, or asks at the node that goes on.
      const caller = random() < 0.5 ? owner : other

      const due = Promise.withResolvers<void>()
      let commits = 0
      for (const node of nodes)
        node.onCommit = () => {
          if (++commits === at) setTimeout(due.resolve, afterMs)
        }
      caller.tell({ play: true })
      await due.promise
      await owner.kill()
      nodes.splice(nodes.indexOf(owner), 1, aLiveNode(deeds))
      if (caller === owner) other.tell({ play: true })
      const { result, left } = await other.hear('played')
      const { written, ...rest } = left as Left
      if (written[1].length > 0) inTheMiddle++

      const done = readLines<Deed & { pid: number; prefix: string }>(deeds).filter((deed) => deed.prefix === prefix)
      const told = {
        ...rest,
        written,
        result,
        deeds: [done.filter(({ pid }) => pid !== other.pid), done.filter(({ pid }) => pid === other.pid)] as [Deed[], Deed[]],
      }
      expectTheSame(
        told,
        calm,
        scenario,
        `round ${round}: killed ${afterMs} ms after commit ${at} of ${calm.commits}, asked at ${caller === owner ? 'it' : 'the other'}`,
      )
      other.tell({ close: true })
      await other.hear('closed')
    }
    expect(inTheMiddle).toBeGreaterThan(0)
  },
)
