import { kept } from './storage.ts'

/** `statecast up` prints an address that ends in `#token=…`: what stands there is sent to nobody and does not stay in the history of the browser. */
export const tokenOf = (): string => {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (given !== null) {
    history.replaceState(null, '', location.pathname + location.search)
  }
  return given ?? kept('token') ?? ''
}

/** Where the node that has served this page speaks. */
export const socketUrl = (): string => {
  const url = new URL('/ws', location.href)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return url.href
}
