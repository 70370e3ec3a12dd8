/** The agent that is killed: three steps, two tools side by side, one that needs a person. Its model decides by the messages alone. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { agent, type Message, type ModelRequest, type Tool, tool } from '../../src/index.ts'
import { appendLine, type EffectLine, effectsFile } from './lines.ts'

type Policy = Tool['onCrash']

/** A tool that leaves traces of its own in the world, before and after its work. */
const tracedTool = (folder: string, name: string, onCrash: Policy, approval = false): Tool =>
  tool({
    name,
    description: `leaves a trace; ${onCrash}`,
    input: z.object({ what: z.string() }),
    onCrash,
    approval,
    execute: async (_, { callId, attempt }) => {
      const trace = (phase: EffectLine['phase'], token?: string) =>
        appendLine(effectsFile(folder), {
          at: Date.now(),
          pid: process.pid,
          phase,
          call: callId,
          tool: name,
          policy: onCrash,
          attempt,
          ...(token ? { token } : {}),
        } satisfies EffectLine)
      trace('start')
      await sleep(15)
      if (process.env.CRASH_IN_TOOL === name) process.kill(process.pid, 'SIGKILL')
      const token = randomBytes(6).toString('hex')
      trace('end', token)
      return { token }
    },
  })

/** The result of the newest call of a tool that was not overtaken by a newer message. */
const resultOf = (messages: readonly Message[], name: string): string | undefined => {
  const result = messages.findLast(
    (message) => message.role === 'tool' && message.name === name && !JSON.stringify(message.output).includes('tool_skipped'),
  )
  if (result?.role !== 'tool') return undefined
  const { token, error } = result.output as { token?: string; error?: { code: string } }
  return token ?? error?.code
}

/** What a message begins with when it is to be answered by words alone. */
export const plainWords = 'just say'

const answer = ({ messages }: ModelRequest) => {
  const heard = messages.flatMap((message) => (message.role === 'user' ? [message.text] : []))
  const pace = { deltaDelayMs: 2 }
  if (heard.at(-1)?.startsWith(plainWords)) return { ...pace, text: `You wanted me to ${heard.at(-1)}.` }
  const [charge, lookup, ship] = ['charge', 'lookup', 'ship'].map((name) => resultOf(messages, name))
  const call = (name: string) => ({ name, input: { what: heard[0] } })
  if (charge === undefined || lookup === undefined) return { ...pace, text: 'I charge and look it up.', calls: [call('charge'), call('lookup')] }
  if (ship === undefined) return { ...pace, text: 'Now I ship it.', calls: [call('ship')] }
  return { ...pace, text: `charge ${charge}, lookup ${lookup}, ship ${ship}; heard: ${heard.join(' | ')}` }
}

export const subjectOf = (folder: string) => ({
  models: { 'test/crash': answer },
  agents: [
    agent({
      name: 'main',
      model: 'test/crash',
      tools: [tracedTool(folder, 'charge', 'once'), tracedTool(folder, 'lookup', 'retry'), tracedTool(folder, 'ship', 'idempotent', true)],
    }),
  ],
})
