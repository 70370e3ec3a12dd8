/** The one suite that every backend passes; the cases are split by topic. */
import { afterEach, describe, test } from 'vitest'
import type { Address } from '../../src/contracts/subjects.ts'
import type { Transport } from '../../src/contracts/transport.ts'
import { blobsContract } from './blobs.contract.ts'
import { busContract } from './bus.contract.ts'
import { forkContract } from './fork.contract.ts'
import { anEnvironment, type TestEnvironment } from './harness.ts'
import { inboxContract } from './inbox.contract.ts'
import { journalContract } from './journal.contract.ts'
import { lifecycleContract } from './lifecycle.contract.ts'
import { lossContract } from './loss.contract.ts'
import { registryContract } from './registry.contract.ts'

export type OpenOptions = { environment: TestEnvironment; inboxMax?: number }

export type Backend = {
  name: string
  /** Opens a transport with nothing in it. */
  open(options: OpenOptions): Promise<Transport>
  /** Closes it, unless it is closed, and opens another on what was durable. */
  reopen?(transport: Transport, options: OpenOptions): Promise<Transport>
  /** Opens one more on the same store, as another node would; left out where only one may be open. */
  beside?(transport: Transport, options: OpenOptions): Promise<Transport>
  /** Takes the end of a root's journal away behind the transport's back, so that it ends at a sequence, 0 for nothing at all; its snapshot stays. */
  shorten(transport: Transport, address: Address, to: number): Promise<void>
  /** From the title of a case to the reason why this backend does not take it. */
  skip?: Record<string, string>
  /** Topics that it takes; all, unless given. */
  topics?: readonly Topic[]
}

export type Suite = {
  claim(title: string, body: () => Promise<void>): void
  open(options?: Partial<OpenOptions>): Promise<Transport>
  reopen(transport: Transport, options?: Partial<OpenOptions>): Promise<Transport>
  beside: ((transport: Transport) => Promise<Transport>) | undefined
  shorten: Backend['shorten']
}

const topics = {
  journal: journalContract,
  fork: forkContract,
  loss: lossContract,
  bus: busContract,
  inbox: inboxContract,
  registry: registryContract,
  blobs: blobsContract,
  lifecycle: lifecycleContract,
}
export type Topic = keyof typeof topics

export const describeTransport = ({
  name,
  open,
  reopen,
  beside,
  shorten,
  skip = {},
  topics: taken = Object.keys(topics) as Topic[],
}: Backend): void => {
  describe(name, () => {
    const opened: Transport[] = []
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((transport) => transport.close()))
    })
    const kept = async (transport: Promise<Transport>): Promise<Transport> => {
      opened.push(await transport)
      return transport
    }
    const suite: Suite = {
      claim: (title, body) => (skip[title] === undefined ? test(title, body) : test.skip(`${title} (${skip[title]})`, body)),
      open: (options) => kept(open({ environment: anEnvironment(), ...options })),
      reopen: (transport, options) => {
        if (reopen === undefined) throw new Error(`${name} cannot be opened again: skip the cases that need it`)
        return kept(reopen(transport, { environment: anEnvironment(), ...options }))
      },
      beside: beside && ((transport) => kept(beside(transport, { environment: anEnvironment() }))),
      shorten,
    }
    for (const topic of taken) describe(topic, () => topics[topic](suite))
  })
}
