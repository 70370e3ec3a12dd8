/** Calls and their results as every provider wants them, also where a crash, a fork or an import has left a conversation damaged. */
import type { AssistantMessage, Message } from '../../contracts/message.ts'
import { isSendableName } from '../../contracts/model.ts'
import type { Tools } from '../../contracts/tool.ts'
import { paired } from './sanitise-history.rules.ts'

/**
 * Results stand behind their calls, missing ones are errors, orphans and duplicates are gone; a call that an older version or another program wrote under a
 * bent name has that of the tool. A call of which nothing can be sent back goes, with its result.
 * @param nameFor which tool a call is for @returns the same list where there is nothing to repair
 */
export const repaired = (messages: readonly Message[], nameFor: Tools['nameFor']): readonly Message[] => {
  const named = messages.map((message) => (message.role === 'assistant' ? withNames(message, nameFor) : message))
  const whole = paired(named)
  const isSame = whole.length === messages.length && whole.every((message, index) => message === messages[index])
  return isSame
    ? messages
    : whole.filter((message) => message.role !== 'assistant' || message.text !== '' || message.calls.length > 0 || message.partial)
}

/** The same object where all names are as they should be. */
const withNames = (message: AssistantMessage, nameFor: Tools['nameFor']): AssistantMessage => {
  if (message.calls.every(({ name }) => isPlain(name))) return message
  const calls = message.calls.flatMap((call) => {
    const name = nameFor(call) ?? call.name
    return isSendableName(name) ? [name === call.name ? call : { ...call, name }] : []
  })
  return calls.length === message.calls.length && calls.every((call, index) => call === message.calls[index]) ? message : { ...message, calls }
}
/** As a provider writes names: most likely a tool that was there then. */
const isPlain = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name)
