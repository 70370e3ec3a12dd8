/** Shows on channels that can change a message what is being written (OC-67). */
import type { Channel, FullDelivery } from '../../contracts/channel.ts'
import type { Route } from '../../contracts/reply.ts'
import { partialText } from './silent-tokens.rules.ts'

export type Draft = { begin(): void; say(text: string): void; reason(text: string): void; stop(): void }

/** Where the reasoning is shown live, it is shown in place of the text. */
export const showDraft = ({ channel, route, delivery }: { channel: Channel | undefined; route: Route; delivery: FullDelivery }): Draft => {
  const nothing = () => undefined
  if (!channel?.partial || !delivery.streaming) return { begin: nothing, say: nothing, reason: nothing, stop: nothing }
  const abort = new AbortController()
  const kind = delivery.reasoning === 'stream' ? 'reasoning' : 'text'
  let text = ''
  let shown = ''
  const show = async (): Promise<void> => {
    const partial = kind === 'reasoning' ? text : partialText(text, delivery.tokens)
    if (partial === '' || partial === shown || abort.signal.aborted) return
    shown = partial
    // It is a courtesy: the message itself comes later.
    await Promise.resolve(channel.partial?.(partial, { route, kind, signal: abort.signal })).catch(nothing)
  }
  const add = (more: string): void => {
    if (more === '') return
    text += more
    show().catch(nothing)
  }
  return {
    begin: () => {
      text = ''
      shown = ''
    },
    say: kind === 'text' ? add : nothing,
    reason: kind === 'reasoning' ? add : nothing,
    stop: () => abort.abort(),
  }
}
