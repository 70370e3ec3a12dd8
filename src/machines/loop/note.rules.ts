/** What becomes of a conversation, which may be one of several in its actor. */
import { definedOf } from '../../contracts/defined.ts'
import type { TranscriptNote } from '../../contracts/turn.ts'
import type { LoopContext } from './loop.context.ts'

export const noted = ({ input: { conversation } }: LoopContext, note: Omit<TranscriptNote, 'type'>): TranscriptNote => ({
  type: 'transcript',
  ...definedOf({ conversation }),
  ...note,
})
