import { describe } from 'vitest'
import type { Transport } from '../../src/contracts/transport.ts'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import type { WriterOptions } from '../../src/transport/embedded/writer.ts'
import { folders, neverHere } from './folder.ts'
import { cutEmbedded } from './shorten.ts'
import { describeTransport, type OpenOptions, type Topic } from './transport.contract.ts'

const aFolder = folders()
const folderOf = new WeakMap<Transport, string>()

/** Bus and blobs pass no writer; what the inbox and the registry write goes the way of the journal's entries. */
const written: Topic[] = ['journal', 'fork', 'loss', 'lifecycle']

describe.each<[string, WriterOptions, Topic[] | undefined]>([
  ['', {}, undefined],
  [', every commit in the writer thread', { pace: neverHere }, written],
])('embedded%s', (how, writer, topics) => {
  const openIn = async (folder: string, options: OpenOptions): Promise<Transport> => {
    const transport = await openEmbedded({ folder, writer, ...options })
    folderOf.set(transport, folder)
    return transport
  }

  describeTransport({
    name: `embedded on disk${how}`,
    ...(topics && { topics }),
    open: (options) => openIn(aFolder(), options),
    reopen: async (transport, options) => {
      await transport.close()
      return openIn(folderOf.get(transport)!, options)
    },
    shorten: async (transport, address, to) => cutEmbedded(folderOf.get(transport)!, address, to),
  })
})
