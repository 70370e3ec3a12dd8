/** Whether an answer may go out. */
import type { SendRule } from '../../contracts/channel.ts'
import type { Origin } from '../../contracts/reply.ts'
import type { SendPolicy } from '../directives/switches.rules.ts'

type SendQuestion = {
  /** What the session itself says. */
  override?: SendPolicy | undefined
  rules?: readonly SendRule[]
  channel?: string | undefined
  chatType?: Origin['chatType'] | undefined
  /** Of the session. */
  key: string
  /** Where no rule fits; default: allow. */
  otherwise?: SendRule['action']
}

/** The session's own word, or else a rule that denies, or else one that allows. */
export const sendAllowed = ({ override = 'inherit', rules = [], channel, chatType = 'direct', key, otherwise = 'allow' }: SendQuestion): boolean => {
  if (override !== 'inherit') return override === 'on'
  const fitting = rules.filter(
    (rule) =>
      (rule.channel === undefined || rule.channel === channel) &&
      (rule.chatType === undefined || rule.chatType === chatType) &&
      (rule.keyPrefix === undefined || key.startsWith(rule.keyPrefix)),
  )
  if (fitting.some(({ action }) => action === 'deny')) return false
  return fitting.length > 0 || otherwise === 'allow'
}
