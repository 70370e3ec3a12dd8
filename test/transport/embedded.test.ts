import type { Transport } from '../../src/contracts/transport.ts'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { folders } from './folder.ts'
import { cutEmbedded } from './shorten.ts'
import { describeTransport, type OpenOptions } from './transport.contract.ts'

const aFolder = folders()
const folderOf = new WeakMap<Transport, string>()
const openIn = async (folder: string, options: OpenOptions): Promise<Transport> => {
  const transport = await openEmbedded({ folder, ...options })
  folderOf.set(transport, folder)
  return transport
}

describeTransport({
  name: 'embedded on disk',
  open: (options) => openIn(aFolder(), options),
  reopen: async (transport, options) => {
    await transport.close()
    return openIn(folderOf.get(transport)!, options)
  },
  shorten: async (transport, address, to) => cutEmbedded(folderOf.get(transport)!, address, to),
})
