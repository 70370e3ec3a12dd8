/** Stands for what looks up links and media: it tells its parent what it is told to. */
import { createMachine, sendParent } from 'xstate'

export const reader = createMachine({
  on: { say: { actions: sendParent(({ event }) => (event as unknown as { event: { type: string } }).event) } },
})
export const unread = (id: string) => ({ id, items: [{ kind: 'link', url: `https://${id}.example/` }] })
export const understood = (id: string, more: object = {}) => ({
  type: 'understood',
  ids: [id],
  found: [{ id, names: [`${id}:lookup-0`] }],
  spoken: false,
  ...more,
})
