/** What everything of one prefix is called on the server. */
import { createHash } from 'node:crypto'
import { type Address, checkKind, escapeToken, formatAddress, unescapeToken } from '../../contracts/subjects.ts'

export type Names = ReturnType<typeof namesOf>

/** Keys of the registry that belong to the backend; no list shows them. */
export const ownKeys = '_backend/'

/** @param prefix first tokens of all subjects, see `subjects()` */
export const namesOf = (prefix: string) => {
  const stem = prefix.replaceAll('.', '_').toUpperCase()
  const of = (part: string, { kind, id }: Address) => `${prefix}.${part}.${checkKind(kind)}.${escapeToken(id)}`
  const depth = prefix.split('.').length + 1
  return {
    prefix,
    streams: {
      journal: `${stem}_JOURNAL`,
      snapshots: `${stem}_SNAPSHOTS`,
      wakes: `${stem}_WAKES`,
      inbox: `${stem}_INBOX`,
      dead: `${stem}_DEAD`,
      blobs: `${stem}_BLOBS`,
    },
    bucket: `${stem}_REGISTRY`,
    journal: (address: Address) => of('journal', address),
    snapshot: (address: Address) => of('snapshot', address),
    wake: (address: Address) => of('wake', address),
    journalsOf: (kind: string | undefined) => `${prefix}.journal.${kind === undefined ? '*' : checkKind(kind)}.*`,
    /** Frames that a fork shared, up to one, since whoever had them went away. */
    copies: (fork: Address, upTo: number) => `${of('journal', fork)}.copies.${upTo}`,
    copiesOf: (fork: Address) => `${of('journal', fork)}.copies.*`,
    /** The note of one that shares frames of a root. Both ids would not fit into a subject. */
    share: (holder: Address, fork: Address) => `${of('journal', holder)}.share.${createHash('sha256').update(formatAddress(fork)).digest('hex')}`,
    sharesOf: (holder: Address) => `${of('journal', holder)}.share.*`,
    every: (part: 'journal' | 'snapshot' | 'wake' | 'in' | 'dead' | 'blob') => `${prefix}.${part}.>`,
    dead: (reason: string) => `${prefix}.dead.${escapeToken(reason)}`,
    blob: (hash: string) => `${prefix}.blob.${hash}`,
    /** What a pattern of `<prefix>.in.` is in the inbox, where the server has put the partition into each subject. */
    inbox: (pattern: string, partition?: number) => `${prefix}.inbox.${partition ?? '*'}.${pattern.split('.').slice(depth).join('.')}`,
    /** The subject of a message in the inbox as it was published. */
    publishedAs: (subject: string) =>
      `${prefix}.in.${subject
        .split('.')
        .slice(depth + 1)
        .join('.')}`,
    /** The address in a subject of ours: `<prefix>.<part>.<kind>.<id>`. @throws RuntimeError bad_request */
    address: (subject: string): Address => {
      const [kind = '', id = ''] = subject.split('.').slice(depth)
      return { kind: checkKind(kind), id: unescapeToken(id) }
    },
  }
}
