/** A tool that a person has to agree to, and an app that has it. */
import { z } from 'zod'
import { agent, defineApp, tool } from '../../src/index.ts'

export const pay = tool({
  name: 'pay',
  description: 'Pays a bill.',
  input: z.object({ to: z.string(), euros: z.number() }),
  approval: ({ euros }) => euros > 100, // or simply true
  execute: ({ to, euros }) => `paid ${euros} euros to ${to}`,
})

export default defineApp({ agents: [agent({ name: 'main', tools: [pay] })] })
