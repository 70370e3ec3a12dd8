/** What people who read a session see of an answer, as those on a channel get it: no tokens, no directives, no reasoning in tags (CH-68, CH-74). */
import { definedOf } from '../../contracts/defined.ts'
import { noReferences, type References } from '../../contracts/references.ts'
import { defaultTokens, type Payload } from '../../contracts/reply.ts'
import type { Said, ShownText } from '../../contracts/shown.ts'
import type { PeopleAgents } from '../chat-agents.ts'
import { mayDirect, modelDirectives, parseModelDirectives } from './model-directives.rules.ts'
import { heartbeatAlert, partialText, withoutTokens } from './silent-tokens.rules.ts'
import { visibleText, withoutReasoning } from './visible-text.rules.ts'

/** In most texts nothing is. */
const mayBeHidden = (text: string): boolean => text.includes('<') || mayDirect(text)
const tokens = defaultTokens

/** Files that it names are still to be found, at the end. Of a text that was stopped in the middle of a directive or a tag, that piece stays hidden. */
const undirected = (text: string, { references, partial = false }: Said): string => {
  const { text: rest, media } = partial
    ? modelDirectives({ references: references ?? noReferences }).push(visibleText().push(text))
    : parseModelDirectives(withoutReasoning(text), definedOf({ references }))
  return [rest.trim(), ...media].filter((part) => part !== '').join('\n\n')
}

/** What people see of one text while it streams, for readers who cannot take back what they were shown. @param references of the text, known at its end */
export const shownStream = (references: () => References | undefined) => {
  const visible = visibleText()
  const directives = modelDirectives()
  return {
    push: (text: string): string => directives.push(visible.push(text)).text,
    end: (): string => directives.push(visible.end()).text + directives.end(references()).text,
  }
}

const finished: ShownText['finished'] = (text, said = {}) => {
  const { heartbeat = false, partial = false } = said
  const visible = mayBeHidden(text) ? undirected(text, said) : text
  // What was held back while it streamed would now appear: the beginning of a token is no word.
  const payload: Payload = { text: partial ? partialText(visible, tokens) : visible }
  return (heartbeat ? heartbeatAlert(payload, tokens) : withoutTokens(payload, tokens).payload)?.text ?? ''
}

const growing: ShownText['growing'] = (text) => partialText(mayBeHidden(text) ? modelDirectives().push(visibleText().push(text)).text : text, tokens)

export const shownText = (people: PeopleAgents): ShownText => ({
  finished,
  growing,
  showsHeartbeats: (agent) => people.get(agent)?.heartbeat?.visibility?.showOk === true,
})
