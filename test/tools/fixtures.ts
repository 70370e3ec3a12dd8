/** Builders for tests of tools. */
import { z } from 'zod'
import type { PlannedCall, Tool, ToolContext, Tools } from '../../src/contracts/tool.ts'
import { createTools } from '../../src/tools/registry.ts'
import { tool } from '../../src/tools/tool.ts'
import { virtualClock } from '../models/fixtures.ts'

export { virtualClock }

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

export const aContext = (context: Partial<ToolContext> = {}): ToolContext => ({
  callId: 'c1',
  attempt: 1,
  session: 's1',
  runId: 'r1',
  signal: new AbortController().signal,
  progress: () => undefined,
  artifacts: {},
  log,
  ...context,
})

/** A tool called `probe` that takes anything and does `execute`. */
export const aTool = (execute: Tool['execute'], settings: Partial<Omit<Tool, 'execute' | 'jsonSchema'>> = {}): Tool =>
  tool({ name: 'probe', description: 'probes', input: z.looseObject({}), ...settings, execute })

export const plan = (tools: Tools, name: string, input: unknown): PlannedCall => {
  const [planned] = tools.plan([{ callId: 'c1', name, input: typeof input === 'string' ? input : JSON.stringify(input) }])
  if (planned === undefined) throw new Error('nothing was planned')
  return planned
}

/** Plans and runs one call of one tool. */
export const run = (probe: Tool, input: unknown = {}, context: Partial<ToolContext> = {}, clock = virtualClock()): Promise<unknown> => {
  const tools = createTools([probe], { clock })
  return tools.run(plan(tools, probe.name, input), aContext(context))
}
