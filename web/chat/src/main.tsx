/** The page as it is served: who may use it, and what it talks to. */
import { liveModel } from './live.ts'
import { mount } from './mount.tsx'
import { kept } from './storage.ts'

/** `statecast up` prints an address that ends in `#token=…`: what stands there is sent to nobody and does not stay in the history of the browser. */
const tokenOf = (): string => {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (given !== null) {
    history.replaceState(null, '', location.pathname + location.search)
  }
  return given ?? kept('token') ?? ''
}

const url = new URL('/ws', location.href)
url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'

const root = document.getElementById('chat')
if (!root) throw new TypeError('index.html has no #chat')
mount(root, liveModel({ url: url.href, token: tokenOf() }))
