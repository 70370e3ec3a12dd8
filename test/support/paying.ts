import { z } from 'zod'
import type { Message } from '../../src/contracts/message.ts'
import { agent, type RuntimeOptions, tool } from '../../src/index.ts'

type Paying = {
  onCrash?: 'retry'
  /** What its tool does and returns. */
  pay(amount: number, callId: string): Promise<string>
  /** @param last what the model answers to: words of the user, or what the tool returned */
  answer(last: Message | undefined): string | Promise<string>
}

/** An agent that pays 7 when its user says so, and answers. */
export const paying = ({ onCrash, pay, answer }: Paying): Pick<RuntimeOptions, 'agents' | 'models'> => ({
  agents: [
    agent({
      name: 'main',
      model: 'test/model',
      tools: [
        tool({
          name: 'pay',
          description: 'pays',
          input: z.object({ amount: z.number() }),
          onCrash: onCrash ?? 'once',
          execute: ({ amount }, { callId }) => pay(amount, callId),
        }),
      ],
    }),
  ],
  models: {
    'test/model': async ({ messages }) => {
      const last = messages.at(-1)
      const isAsked = last?.role === 'user' && last.text.startsWith('pay')
      return isAsked ? { calls: [{ name: 'pay', input: { amount: 7 } }] } : { text: await answer(last) }
    },
  },
})
