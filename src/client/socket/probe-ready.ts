/** Whether the node behind the address of a socket takes requests. */

/** @param url of its socket @throws where nothing answers, or the node is not ready */
export const probeReady = async (url: string, signal: AbortSignal): Promise<void> => {
  const { ok, type, status } = await fetch(readinessUrl(url), { signal, mode: 'no-cors', cache: 'no-store', credentials: 'omit' })
  // A page of another origin learns no more than that something answered.
  if (!ok && type !== 'opaque') throw new Error(`the node is not ready (${status})`)
}

/** `/readyz` stands where the socket does, below the same path of a proxy. */
const readinessUrl = (socketUrl: string): string => {
  const url = new URL(socketUrl)
  url.protocol = url.protocol.replace('ws', 'http')
  url.pathname = url.pathname.endsWith('/ws') ? url.pathname.replace(/ws$/, 'readyz') : '/readyz'
  url.search = ''
  return url.href
}
