/** The page as it is served: who may look, at which node, and at what. */
import { render } from 'preact'
import { keep, kept } from '../../chat/src/storage.ts'
import { App } from './app.tsx'
import { Model } from './model.ts'
import { placeIn } from './place.ts'
import '../../chat/src/styles/tokens.css'
import '../../chat/src/styles/base.css'
import './styles/page.css'
import './styles/chart.css'
import './styles/timeline.css'
import './styles/details.css'

/** `statecast up` prints an address that ends in `#token=…`: what stands there is sent to nobody and does not stay in the history of the browser. */
const tokenOf = (): string => {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (given !== null) history.replaceState(null, '', location.pathname + location.search)
  return given ?? kept('token') ?? ''
}

const url = new URL('/ws', location.href)
url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
const token = tokenOf()
// One that was refused does not take the place of one that is good.
const model = new Model({ url: url.href, token }, () => keep('token', token))

const { kind, id, seq, actor, run } = placeIn(location.search)
if (id !== undefined) model.open(kind, id, { seq, actor, run })

const root = document.getElementById('inspector')
if (!root) throw new TypeError('index.html has no #inspector')
render(<App model={model} />, root)
