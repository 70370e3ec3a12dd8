/** What a model is told when it comes into a group. */
import { defaultTokens, type Origin } from '../../contracts/reply.ts'
import { summaryLine } from '../../machines/session/collect.rules.ts'

/** `mention`: it is woken by messages that name it; `always`: by every message. */
export type Activation = 'mention' | 'always'

type Group = Pick<Origin, 'subject' | 'members'> & {
  activation: Activation
  /** The word that says that nothing is to be sent. */
  silent?: string
  /** What the channel adds, such as how to name people there. */
  hint?: string
}

/** Part of the system prompt. Names come from strangers, so each stays on one line and between quotes. */
export const groupIntro = ({ subject = '', members = [], activation, silent = defaultTokens.silent, hint = '' }: Group): string => {
  const quoted = (name: string) => JSON.stringify(summaryLine(name))
  const lines = [
    summaryLine(subject) === '' ? 'You take part in a group chat.' : `You take part in the group chat ${quoted(subject)}.`,
    members.length === 0 ? '' : `In it are: ${members.map(quoted).join(', ')}.`,
    activation === 'always'
      ? 'Every message of the group reaches you. Answer those that are meant for you or that you can help with.'
      : 'Messages that mention you reach you, and answers to yours.',
    `If there is nothing useful to say, answer with ${silent} and nothing else: then nothing is sent.`,
    hint,
  ]
  return lines.filter((line) => line !== '').join('\n')
}
