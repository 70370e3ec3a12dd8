/** A backend by its address, as configuration and command line give it. */
import { RuntimeError } from '../contracts/errors.ts'
import type { Transport } from '../contracts/transport.ts'
import { type EmbeddedOptions, openEmbedded } from './embedded/open.ts'
import { openMemory } from './memory/open.ts'
import type { NatsOptions } from './nats/open.ts'

export type TransportOptions = Omit<EmbeddedOptions, 'folder'> & Pick<NatsOptions, 'replicas' | 'connection'>

/** @param url `embedded:./folder`, `memory:`, `nats://host:port` and the other forms of {@link connectionTo}. @throws RuntimeError bad_request, unsupported, and the errors of opening the backend */
export const openTransport = async (url: string, options: TransportOptions): Promise<Transport> => {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) ?? []
  switch (scheme) {
    case 'embedded':
      if (rest === undefined || rest === '')
        throw new RuntimeError('bad_request', 'the embedded transport needs a folder', { field: 'transport', hint: "write 'embedded:./.statecast'" })
      return openEmbedded({ ...options, folder: rest })
    case 'memory':
      return openMemory(options)
    case 'nats':
    case 'nats-context':
    case 'tls': {
      // Its client is loaded only where it is used.
      const { openNats } = await import('./nats/open.ts')
      return openNats({ ...options, url })
    }
    default:
      // The rest of it could hold a password.
      throw new RuntimeError('bad_request', `no transport goes by the scheme '${(scheme ?? '').slice(0, 20)}'`, {
        field: 'transport',
        hint: "write 'embedded:./folder', 'memory:' or 'nats://host:port'",
      })
  }
}
