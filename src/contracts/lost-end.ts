/** A journal that ends earlier than it did before. It is damage, never a fresh start, and nobody has taken anything over. */
import { isRuntimeError, RuntimeError } from './errors.ts'
import { type Address, formatAddress } from './subjects.ts'

/**
 * @param found sequence of its last frame, 0 where it is empty
 * @param known the sequence that it was seen to have, or that was acknowledged
 */
export const lostEndError = (address: Address, found: number, known: number): RuntimeError =>
  new RuntimeError(
    'corrupt_at',
    `the journal of ${formatAddress(address)} has lost its end: it ${found === 0 ? 'is empty' : `ends at commit ${found}`}, and was at ${known} before`,
    {
      hint: 'restore a backup that has it; to continue without what was lost, delete the actor: it then starts over',
      data: { seq: found + 1, found, known, kind: address.kind, id: address.id },
    },
  )

/** It says where a journal is damaged, and asking again will not mend that. */
export const isDamage = (error: unknown): error is RuntimeError => isRuntimeError(error) && error.code === 'corrupt_at'
