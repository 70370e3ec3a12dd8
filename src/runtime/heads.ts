/** All roots of a journal, however many there are. */
import type { Head, Journal } from '../contracts/transport.ts'

const pageSize = 1000

/** In address order, read page by page. @param kind only roots of this kind */
export async function* allHeads(journal: Pick<Journal, 'list'>, kind?: string): AsyncGenerator<Head, void> {
  let page = await journal.list({ kind, limit: pageSize })
  for (;;) {
    yield* page
    if (page.length < pageSize) return
    page = await journal.list({ kind, after: page.at(-1)?.address, limit: pageSize })
  }
}
