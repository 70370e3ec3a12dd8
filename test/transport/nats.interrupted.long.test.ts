/** The suite once more, while the link is cut, answers are swallowed and the server is killed in the middle of it. */
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { ownNats } from '../support/nats.ts'
import { splitNats, startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { type Harm, interrupted } from './interrupted.ts'
import { natsBackend } from './nats.backend.ts'
import { describeTransport } from './transport.contract.ts'

const downMs = 100
/** Within one case, the next harm comes that long after the last one. */
const calmMs = 1_500

const asked = 'who asks until there is an answer does not see it'
const unknowable = 'whether a message was put before cannot be told by one whose first answer was lost'
const forgets = 'a server that is killed may forget when a record expires: nodes look for silent ones themselves, see membership.test.ts'
const skip = {
  'at K02 the append is on its way and its answer can be held back': 'who asks again passes it again',
  'an acknowledgement that is lost at K02 leaves the outcome unknown and the frame written': asked,
  'a wake time is found though the acknowledgement of its append was lost at K02': asked,
  'a crash at K16 leaves the older snapshot': asked,
  'closing waits for the appends that are in flight': 'those whose answers are lost in that moment are not asked about any more',
  'an id that was seen before is dropped: while it waits, and after it is done, also after a reopen': unknowable,
  'of several words about one delivery the first counts': unknowable,
  'a watcher hears every later change under its prefix, in order, until it stops': 'while it is cut off, it misses what was overtaken',
  'a key with a time to live expires, its watchers hear it, and it can be taken again': forgets,
  'whoever watches a key with a time to live hears in the end that it has expired': forgets,
  'what was put is delivered once, in the order in which it was put, as its first attempt, when nothing fails': 'here something fails',
  'many subjects and messages are each delivered exactly once when nothing fails': 'here something fails',
}

describe('one server that is harmed while it is used', () => {
  const server = ownNats()
  let proxy: TcpProxy
  beforeAll(async () => {
    proxy = await startTcpProxy({ to: server.port, split: splitNats })
  })
  afterAll(() => proxy.close())
  let restarting: Promise<void> = Promise.resolve()
  afterEach(async () => {
    await restarting
    proxy.heal()
  })

  const harms: Harm[] = [
    () => {
      proxy.cut()
      setTimeout(() => proxy.heal(), downMs)
    },
    // The next acknowledgement of anything stored, and the link with it.
    () => void proxy.dropResponsesOnce(/"stream":"\w+", ?"seq"/),
    () => {
      restarting = server.restart('SIGKILL')
    },
  ]
  let cases = 0
  let done = 0
  /** Each case meets its first harm at another call. */
  const harmsOfOneCase = (): Harm => {
    const first = 1 + (cases++ % 4)
    let calls = 0
    let lastAt = 0
    return () => {
      calls += 1
      if (calls < first || performance.now() < lastAt + calmMs) return
      lastAt = performance.now()
      harms[done++ % harms.length]!()
    }
  }
  const inner = natsBackend('NATS, one server', () => `nats://${proxy.address}`, 1)
  describeTransport({
    ...inner,
    // Live messages that are lost with the link are no defect: see nats.faults.test.ts.
    topics: ['journal', 'inbox', 'registry', 'blobs', 'lifecycle'],
    skip: { ...inner.skip, ...skip },
    open: async (options) => interrupted(await inner.open(options), harmsOfOneCase()),
    beside: async (transport, options) => interrupted(await inner.beside!(transport, options), () => undefined),
    reopen: async (transport, options) => interrupted(await inner.reopen!(transport, options), harmsOfOneCase()),
  })
})
