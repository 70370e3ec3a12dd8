/** What a session has refused, as the error that its sender gets. */
import { RuntimeError } from '../contracts/errors.ts'
import type { Receipt } from '../contracts/journal.ts'

/** @throws RuntimeError where the commit of a command says that it was refused */
export const throwRefusal = ({ emitted }: Receipt): void => {
  const refused = emitted.find(({ type }) => type === 'refused') as { code: RuntimeError['code']; message: string; hint?: string } | undefined
  if (refused)
    throw new RuntimeError(refused.code, refused.message, {
      hint: refused.hint,
      retryable: refused.code === 'overloaded' || refused.code === 'session_busy',
    })
}
