/** Contents that do not fit into one message of this server go to the blob store, and the message names them. */
import type { Blobs } from '../../../contracts/transport.ts'
import { type Link, payloadMax, type Stored } from '../link.ts'

const blobHeader = 'Statecast-Blob'
/** Bytes of `max_payload` that headers and protocol may take. */
const headerBytesMax = 8 * 1024

/** Bytes of content that surely fit into one message. */
export const contentMax = ({ nc }: Pick<Link, 'nc'>): number => payloadMax(nc) - headerBytesMax

/** Of the headers of a message those that {@link payloads} needs to read it. */
export const contentHeaders = ({ headers }: Pick<Stored, 'headers'>): Record<string, string> =>
  headers.has(blobHeader) ? { [blobHeader]: headers.last(blobHeader) } : {}

export const payloads = (link: Link, blobs: Blobs) => ({
  /** @param besides bytes that headers take beyond the usual */
  async write(bytes: Uint8Array, besides = 0): Promise<{ data: Uint8Array; headers: Record<string, string> }> {
    if (bytes.length + 3 * besides <= contentMax(link)) return { data: bytes, headers: {} }
    return { data: new Uint8Array(), headers: { [blobHeader]: await blobs.put(bytes) } }
  },
  /** A copy: the client's bytes are a view into its socket buffer. */
  async read({ data, headers }: Stored): Promise<Uint8Array> {
    const hash = headers.last(blobHeader)
    return hash ? blobs.get(hash) : new Uint8Array(data)
  },
})
