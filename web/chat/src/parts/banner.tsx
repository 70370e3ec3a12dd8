/** The connection is gone, will soon be, or was refused. Nothing is said of a second without one. */
import { useLasting, useModel, useNow } from '../hooks.ts'
import type { Connection } from '../model.ts'
import { textOf, titleOf } from './problem.tsx'

export const Banner = ({ connection }: { connection: Connection }) => {
  const model = useModel()
  const isLost = connection.state === 'lost'
  const lasts = useLasting(isLost, 1000)
  const retryAt = isLost ? connection.retryAt : undefined
  const now = useNow(500, retryAt !== undefined)
  if (connection.state === 'refused')
    return (
      <div class="banner refused">
        <p>
          <b>{titleOf(connection.error)}.</b> {textOf(connection.error) ?? 'What you typed is kept.'}
          <span class="fine mono"> {connection.error.code}</span>
        </p>
        <button type="button" class="button" onClick={() => model.reconnect()}>
          Try again
        </button>
      </div>
    )
  if (connection.state === 'connected' && connection.leaving)
    return (
      <div class="banner">
        <p>
          <b>The node is shutting down.</b> What it is doing may end, and nothing new begins. What waits for you is asked again when it is back, and
          what you type is kept.
        </p>
      </div>
    )
  if (!lasts) return null
  const left = retryAt === undefined ? 0 : Math.max(0, Math.ceil((retryAt - now) / 1000))
  return (
    <div class="banner">
      <p>
        <b>The connection is gone.</b> Trying again {left > 0 ? <span class="num">in {left} s</span> : 'now'}. The work goes on without this page, and
        what you type is kept.
      </p>
      <button type="button" class="button" onClick={() => model.reconnect()}>
        Try now
      </button>
    </div>
  )
}
