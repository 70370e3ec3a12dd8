/** A receiver of the Stately inspector, as published, and what it is told. */
import { createWebSocketReceiver } from '@statelyai/inspect'
import { vi } from 'vitest'

type Told = {
  type: string
  sessionId: string
  rootId?: string
  parentId?: string
  sourceId?: string
  name?: string
  definition?: string
  event?: { type: string }
  snapshot?: { status?: string; value?: unknown; context?: unknown }
}

export const aReceiver = (url: string, path: string) => {
  const told: Told[] = []
  const receiver = createWebSocketReceiver({ server: `${url.replace('http', 'ws')}${path}` })
  receiver.subscribe((event) => void told.push(event as unknown as Told))
  const until = (fits: (one: Told) => unknown, timeout = 5_000) =>
    vi.waitFor(
      () => {
        const found = told.find(fits)
        if (found === undefined) throw new Error(`not among ${told.length}: ${told.map(line).slice(-20).join('\n')}`)
        return found
      },
      { timeout, interval: 10 },
    )
  return { told, until }
}

/** A message as a line. */
export const line = ({ type, sessionId, parentId, sourceId, event, snapshot }: Told): string => {
  const value = JSON.stringify(snapshot?.value ?? snapshot?.status)
  if (type === '@xstate.actor') return `actor ${sessionId} below ${parentId ?? 'nobody'}: ${value}`
  if (type === '@xstate.event') return `event ${event?.type} from ${sourceId ?? 'outside'} for ${sessionId}`
  return `snapshot ${sessionId}: ${value}`
}
