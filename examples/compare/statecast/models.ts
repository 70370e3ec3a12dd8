/** The fake models of Statecast. */
import type { RuntimeOptions } from '../../../src/index.ts'
import { answer } from '../world.mjs'

const jobs = ['router', 'billing', 'stock', 'law', 'writer', 'chat', 'summarizer']

/** A conversation is summarised by the model that leads it. */
const asked = (job: string, text = ''): string => (/^(?:User|Earlier summary): /.test(text) ? 'summarizer' : job)

export const models: NonNullable<RuntimeOptions['models']> = Object.fromEntries(
  jobs.map((job) => [
    `fake/${job}`,
    async ({ instructions, messages }) => {
      const seen = [{ role: 'system', text: instructions }, ...messages.map((one) => ({ role: one.role, text: 'text' in one ? one.text : '' }))]
      return { text: await answer(asked(job, seen.at(-1)?.text), seen) }
    },
  ]),
)
