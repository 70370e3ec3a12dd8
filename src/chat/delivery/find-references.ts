/** Finds what the directives of an answer refer to, once the model has written it: files of the workspace and messages of the conversation. */

import type { FindReferences } from '../../contracts/find-references.ts'
import type { Message } from '../../contracts/message.ts'
import { messageIdHint } from '../desk/message-id-hint.rules.ts'
import { mayDirect, referencesNamed } from './model-directives.rules.ts'
import { mayHide } from './visible-text.rules.ts'

/** An answer that names more is a listing: the rest of it stays text. */
const namesMax = 100

/** @param isFile whether a path leads to a file of the workspace that tools may read */
export const referenceFinder =
  (isFile: (path: string) => Promise<boolean>): FindReferences =>
  (text, conversation) =>
    mayDirect(text) || mayHide(text) ? found(text, conversation, isFile) : undefined

const found = async (text: string, conversation: readonly Message[], isFile: (path: string) => Promise<boolean>) => {
  const named = referencesNamed(text)
  const there = await Promise.all(named.files.slice(0, namesMax).map(async (path) => ((await isFile(path)) ? [path] : [])))
  return { files: there.flat(), messages: named.messages.slice(0, namesMax).filter((id) => isMessage(conversation, id)) }
}

/** The model knows messages by the hints that the desk puts in front of them. */
const isMessage = (conversation: readonly Message[], id: string): boolean => {
  const hint = messageIdHint(id)
  return conversation.some((message) => message.role === 'user' && (message.before?.includes(hint) || message.text.includes(hint)))
}
