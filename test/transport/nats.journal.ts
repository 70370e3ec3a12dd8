/** A journal on a server, over a link that a test can change: an answer is lost there, or the node ends in the middle. */
import { connect } from '@nats-io/transport-node'
import type { Journal } from '../../src/contracts/transport.ts'
import { natsBlobs } from '../../src/transport/nats/blobs.ts'
import { natsJournal } from '../../src/transport/nats/journal.ts'
import { type Link, openLink } from '../../src/transport/nats/link.ts'
import { namesOf } from '../../src/transport/nats/names.ts'
import { openWakes } from '../../src/transport/nats/wakes.ts'
import { afterThisTest } from '../support/cleanup.ts'
import { anEnvironment } from './harness.ts'

const noMark = { reached: () => undefined, highest: () => 0 }

/** @param prefix of streams that are there already @param change what is different about the link */
export const journalOver = async (url: string, prefix: string, change: (link: Link) => Partial<Link>): Promise<Journal> => {
  const environment = anEnvironment()
  const names = namesOf(prefix)
  const real = await openLink(await connect({ servers: url }))
  const link = { ...real, ...change(real) }
  const wakes = await openWakes(link, names, environment)
  await wakes.ready
  afterThisTest(async () => {
    await wakes.stop()
    await real.close()
  })
  return natsJournal({ link, names, wakes, blobs: natsBlobs(link, names), mark: noMark, environment })
}
