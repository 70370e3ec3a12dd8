/** The line below an answer that says what it used (OC-86, 93). */
import type { Payload } from '../../contracts/reply.ts'
import type { UsageMode } from '../../contracts/settings.ts'
import { moneyText, tokensText } from '../directives/numbers.rules.ts'

/** @property costUsd left out where no price is known */
type UsageFacts = { input?: number; output?: number; costUsd?: number }
/** @property apiKey the call is paid by the token, so that it has a cost of its own */
type UsageLineOptions = { mode: UsageMode; apiKey: boolean; sessionKey?: string }

/** @returns undefined where it is switched off or there is nothing to tell */
export const usageLine = ({ input, output, costUsd }: UsageFacts, { mode, apiKey, sessionKey }: UsageLineOptions): string | undefined => {
  if (mode === 'off' || !(isSome(input) || isSome(output))) return undefined
  const cost = apiKey && costUsd !== undefined && Number.isFinite(costUsd) ? ` · est ${moneyText(costUsd)}` : ''
  const session = mode === 'full' && sessionKey !== undefined ? ` · session ${sessionKey}` : ''
  return `Usage: ${side(input)} in / ${side(output)} out${cost}${session}`
}

const isCount = (value: number | undefined): value is number => value !== undefined && Number.isFinite(value) && value >= 0
const isSome = (value: number | undefined): boolean => isCount(value) && value > 0
const side = (value: number | undefined): string => (isCount(value) ? tokensText(value) : '?')

/** Adds a line to the last payload that has text; where none has, as a payload of its own. */
export const withLine = (payloads: Payload[], line: string): Payload[] => {
  const index = payloads.findLastIndex(({ text }) => text !== undefined && text.trim() !== '')
  return index < 0 ? [...payloads, { text: line }] : payloads.with(index, lineAdded(payloads[index] as Payload, line))
}

const lineAdded = (payload: Payload, line: string): Payload => {
  const text = payload.text ?? ''
  return { ...payload, text: text.endsWith('\n') ? text + line : `${text}\n${line}` }
}
