/** Addresses of the pages of a node, for browsers. */

/** Of a node that listens on all interfaces, as it is reached from here. */
const hereOf = (url: string): string => url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\]):/, 'http://127.0.0.1:')

/** With the token where only the page sees it: browsers send no fragment. */
const fragment = (token: string | undefined): string => (token === undefined ? '' : `#token=${token}`)

export const chatPage = (url: string, token: string | undefined): string => `${hereOf(url)}/${fragment(token)}`

/** @param place what it is to show */
export const inspectorPage = (url: string, token: string | undefined, place?: { kind: string; id: string }): string => {
  const query = place && new URLSearchParams(place.kind === 'session' ? { session: place.id } : place)
  return `${hereOf(url)}/inspector${query ? `?${query.toString()}` : ''}${fragment(token)}`
}

/** Of a WebSocket below a node. */
export const socketAddress = (url: string, path: string): string => `${hereOf(url).replace(/^http/, 'ws')}${path}`
