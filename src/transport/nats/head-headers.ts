/** The head of a root, in the headers of its newest message. */
import { definedOf } from '../../contracts/defined.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Head } from '../../contracts/transport.ts'
import type { Stored } from './link.ts'
import { originHeader, seqHeader } from './tips.ts'

const wakeHeader = 'Statecast-Wake-At'
const atHeader = 'Statecast-At'

/** @param origin as the root's messages before say it */
export const saidOf = ({ seq, wakeAt, at }: Omit<Head, 'address' | 'origin'>, origin: string | undefined): Record<string, string> => ({
  [seqHeader]: String(seq),
  [atHeader]: String(at),
  ...definedOf({ [wakeHeader]: wakeAt?.toString(), [originHeader]: origin }),
})

export const originText = (origin: Head['origin']): string => encodeURIComponent(JSON.stringify(origin))

export const headOf = ({ kind, id }: Address, { headers }: Stored): Head => ({
  address: { kind, id },
  seq: Number(headers.last(seqHeader)),
  wakeAt: headers.has(wakeHeader) ? Number(headers.last(wakeHeader)) : null,
  at: Number(headers.last(atHeader)),
  ...(headers.has(originHeader) && { origin: JSON.parse(decodeURIComponent(headers.last(originHeader))) }),
})
