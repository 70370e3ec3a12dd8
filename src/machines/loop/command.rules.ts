/** A turn that a command of a person began: its tool is called, and what that returns is the answer. No model is asked. */
import { type Message, noUsage } from '../../contracts/message.ts'
import type { ModelResponse } from '../../contracts/model.ts'
import type { SkillCommand } from '../../contracts/skill.ts'

/** @returns undefined where there is more to answer than the command: then the model is asked after all */
export const commandAnswer = (
  { tool, ...command }: SkillCommand,
  runId: string,
  model: string,
  messages: readonly Message[],
): ModelResponse | undefined => {
  // Providers want ids of a few characters; the run's own may hold any.
  const callId = `command_${runId.replace(/[^A-Za-z0-9]/g, '').slice(-40)}`
  const said = { reasoning: '', usage: noUsage, model, partial: false } as const
  const asked = messages.findLastIndex((message) => message.role === 'assistant' && message.calls.some((call) => call.callId === callId))
  if (asked < 0) {
    const input = JSON.stringify({ command: command.args, commandName: command.command, skillName: command.skill })
    return { ...said, text: '', calls: [{ callId, name: tool ?? '', input }], finish: 'tool-calls' }
  }
  const last = messages.at(-1)
  if (last?.role !== 'tool' || last.callId !== callId) return undefined
  return { ...said, text: textOf(last.output, last.isError), calls: [], finish: 'stop' }
}

const textOf = (output: unknown, failed: boolean): string => {
  if (typeof output === 'string') return output === '' ? done : output
  if (typeof output === 'object' && output !== null) {
    const { text, error } = output as { text?: unknown; error?: { message?: unknown } }
    if (failed && typeof error?.message === 'string') return `It failed: ${error.message}`
    if (typeof text === 'string' && text !== '') return text
  }
  return output === null || output === undefined ? done : JSON.stringify(output, null, 2)
}
const done = 'Done.'
