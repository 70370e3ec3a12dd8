/** Words that a person says to us rather than to the model. */
import { abortWord, parseDirectives } from '../chat/index.ts'
import type { Origin } from '../contracts/reply.ts'

export const isDirective = (text: string): boolean => abortWord(text) || parseDirectives(text).directives.length > 0

/** Where a person here writes from: with it, directives are read. */
export const originHere = (sessionKey: string): Origin => ({ channel: 'stdio', to: sessionKey })
