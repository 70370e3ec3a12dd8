/** What people who read a session see of an answer, as those on a channel get it: no tokens, no directives, no reasoning in tags (CH-68, CH-74). */
import { defaultTokens, type Payload } from '../../contracts/reply.ts'
import type { ShownText } from '../../contracts/shown.ts'
import type { PeopleAgents } from '../chat-agents.ts'
import { modelDirectives, parseModelDirectives } from './model-directives.rules.ts'
import { heartbeatAlert, partialText, withoutTokens } from './silent-tokens.rules.ts'
import { visibleText } from './visible-text.rules.ts'

/** Something in it could be meant for us; in most texts nothing is. */
const mayDirect = (text: string): boolean => /<|\[\[|MEDIA:/.test(text)
const tokens = defaultTokens

const withoutTags = (text: string): string => {
  const { push, end } = visibleText()
  return push(text) + end()
}

/** Files that it names are still to be found, at the end. */
const undirected = (text: string): string => {
  const { text: rest, media } = parseModelDirectives(withoutTags(text))
  return [rest.trim(), ...media].filter((part) => part !== '').join('\n\n')
}

const finished: ShownText['finished'] = (text, { heartbeat = false } = {}) => {
  const payload: Payload = { text: mayDirect(text) ? undirected(text) : text }
  return (heartbeat ? heartbeatAlert(payload, tokens) : withoutTokens(payload, tokens).payload)?.text ?? ''
}

const growing: ShownText['growing'] = (text) => partialText(mayDirect(text) ? modelDirectives().push(visibleText().push(text)).text : text, tokens)

export const shownText = (people: PeopleAgents): ShownText => ({
  finished,
  growing,
  showsHeartbeats: (agent) => people.get(agent)?.heartbeat?.visibility?.showOk === true,
})
