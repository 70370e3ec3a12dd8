import { describe } from 'vitest'
import type { Transport } from '../../src/contracts/transport.ts'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import type { WriterOptions } from '../../src/transport/embedded/writer.ts'
import { folders, neverHere } from './folder.ts'
import { cutEmbedded } from './shorten.ts'
import { describeTransport, type OpenOptions } from './transport.contract.ts'

const aFolder = folders()
const folderOf = new WeakMap<Transport, string>()

describe.each<[string, WriterOptions]>([
  ['', {}],
  [', every commit in the writer thread', { pace: neverHere }],
])('embedded%s', (how, writer) => {
  const openIn = async (folder: string, options: OpenOptions): Promise<Transport> => {
    const transport = await openEmbedded({ folder, writer, ...options })
    folderOf.set(transport, folder)
    return transport
  }

  describeTransport({
    name: `embedded on disk${how}`,
    open: (options) => openIn(aFolder(), options),
    reopen: async (transport, options) => {
      await transport.close()
      return openIn(folderOf.get(transport)!, options)
    },
    shorten: async (transport, address, to) => cutEmbedded(folderOf.get(transport)!, address, to),
  })
})
