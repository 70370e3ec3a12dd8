/** The journal of an actor as a command sees it: through whatever node or runtime answers. */

import type { Address } from '../contracts/subjects.ts'
import type { Frame, Journal } from '../contracts/transport.ts'
import type { FramePage } from '../runtime/index.ts'
import type { Client } from './client.ts'

/** @returns what a fold reads of a journal, wherever that is */
export const journalOf = (client: Pick<Client, 'command'>, { kind, id }: Address): Journal => {
  const read: Journal['read'] = async (_, from, { limit = 1000 } = {}) => {
    const frames: Frame[] = []
    for (let next: number | null = from; next !== null && frames.length < limit; ) {
      const page: FramePage = await client.command('trace.frames', { kind, id, from: next, limit: Math.min(1000, limit - frames.length) })
      frames.push(...page.frames.map(({ bytes, ...frame }) => ({ ...frame, bytes: Buffer.from(bytes, 'base64') })))
      next = page.next
    }
    return frames
  }
  const head: Journal['head'] = async () => ({
    address: { kind, id },
    ...(await client.command<FramePage>('trace.frames', { kind, id, limit: 1 })).head,
  })
  return { read, head } as Pick<Journal, 'read' | 'head'> as Journal
}
