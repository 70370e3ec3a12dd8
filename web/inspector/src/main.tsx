/** The page as it is served: who may use it, and what it talks to. */
import { socketUrl, tokenOf } from '../../shared/token.ts'
import { liveModel } from './live.ts'
import { mount } from './mount.tsx'

const root = document.getElementById('inspector')
if (!root) throw new TypeError('index.html has no #inspector')
mount(root, liveModel({ url: socketUrl(), token: tokenOf() }))
