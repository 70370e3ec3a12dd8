/** The app of the nodes that are harmed: two steps, three tools, one of each crash policy. Its model decides by the messages alone. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { agent, defineApp, type ModelRequest, type Tool, tool } from '../../src/index.ts'
import { systemIds } from '../../src/runtime/system-environment.ts'
import { appendLine } from '../crash/lines.ts'
import type { Trace } from './traces.ts'

const effects = process.env.CHAOS_EFFECTS ?? ''

/** Leaves traces of its own in the world, before and after its work. */
const tracedTool = (name: string, onCrash: Tool['onCrash'], ms: number): Tool =>
  tool({
    name,
    description: `leaves a trace; ${onCrash}`,
    input: z.object({ what: z.string() }),
    onCrash,
    execute: async ({ what }, { callId, attempt, session }) => {
      const trace = (phase: Trace['phase'], token?: string) =>
        appendLine(effects, {
          at: Date.now(),
          pid: process.pid,
          phase,
          call: callId,
          tool: name,
          policy: onCrash,
          attempt,
          session,
          what,
          ...(token ? { token } : {}),
        } satisfies Trace)
      trace('start')
      await sleep(ms)
      const token = randomBytes(6).toString('hex')
      trace('end', token)
      return { token }
    },
  })

const answer = ({ messages }: ModelRequest) => {
  const newest = messages.findLastIndex(({ role }) => role === 'user')
  const asked = messages[newest]
  const words = asked?.role === 'user' ? asked.text : ''
  const results = messages.slice(newest + 1).flatMap((message) => (message.role === 'tool' ? [message] : []))
  const pace = { delayMs: 15, deltaDelayMs: 3 }
  const call = (name: string) => ({ name, input: { what: words } })
  if (!words.startsWith('work')) return { ...pace, text: `You said: ${words}.` }
  if (results.length === 0) return { ...pace, text: 'I charge it and look it up.', calls: [call('charge'), call('lookup')] }
  if (results.length < 3) return { ...pace, text: 'Now I ship it.', calls: [call('ship')] }
  return {
    ...pace,
    text: `Done, ${words}: ${results.map(({ name, output }) => `${name} ${(output as { token?: string }).token ?? 'failed'}`).join(', ')}`,
  }
}

export default defineApp({
  prefix: 'chaos',
  models: { 'test/chaos': answer },
  agents: [
    agent({
      name: 'main',
      model: 'test/chaos',
      tools: [tracedTool('charge', 'once', 30), tracedTool('lookup', 'retry', 40), tracedTool('ship', 'idempotent', 25)],
    }),
  ],
  // Whoever wrote a commit can be told from it: which process it was.
  environment: { ids: { next: (prefix) => `${systemIds.next(prefix)}-p${process.pid}` } },
  // Here nodes die faster than turns end, and it is not the turns that end them. What was taken up without need is let go of when it has been idle, and
  // says only then that nobody has to wake it.
  limits: { snapshotEvery: 10, takeoverMax: 1_000, idleMs: 5_000 },
})
