/** Finds what the directives of an answer refer to, before the answer is recorded. */
import type { Message } from './message.ts'
import type { References } from './references.ts'

/** A text without any of these marks has no directives. */
export const directiveMarks = /<|\[\[|MEDIA:|\n[^\S\n]*\n/

/**
 * @param conversation what the model was shown
 * @returns undefined for a text that cannot hold a directive. Any other answer has references, also empty ones: answers recorded before there were
 * references have none, and are published by the rules of their time.
 */
export type FindReferences = (text: string, conversation: readonly Message[]) => Promise<References> | undefined
