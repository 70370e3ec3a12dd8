import { type Address, checkKind, escapeToken } from '../contracts/subjects.ts'

/** One string per root, for maps; a kind holds no slash, so two addresses never share a key. @throws RuntimeError bad_request, too_large */
export const addressKey = (address: Address): string => {
  escapeToken(address.id)
  checkKind(address.kind)
  return checkedKey(address)
}

/** The same of an address that was checked before. */
export const checkedKey = ({ kind, id }: Address): string => `${kind}/${id}`

/** By kind, then by id, both by their UTF-8 bytes: the order SQLite and NATS list in, which is not JavaScript's for all of Unicode. */
export const compareAddresses = (left: Address, right: Address): number => compareText(left.kind, right.kind) || compareText(left.id, right.id)

const compareText = (left: string, right: string): number => (left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right)))
