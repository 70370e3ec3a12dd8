/** The scripted turn of all benchmarks and its model. Imports types only, so that it drives the sources of any tree. */
import type { Model } from '../src/index.ts'

/** What every contender of a turn is asked: 100 deltas, in a tool turn after one call of one tool. */
export const script = {
  deltas: 100,
  delta: 'word ',
  tool: { name: 'weather', description: 'tells the weather', input: { city: 'Oslo' }, output: 'sunny, 21 degrees' },
} as const
export type Script = typeof script
export type Message = 'plain' | 'tool'
export const { deltas, delta } = script

export const usage = { inputTokens: 10, outputTokens: 100, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 }

/**
 * Answers without any latency, one delta at a time, as a stream would: with `await` before each.
 * @param chunks deltas of an answer @param together if above 1: so many come in one turn of the event loop, as from a socket
 */
export const instantModel = (chunks: readonly string[] = Array<string>(deltas).fill(delta), together = 1): Model => {
  const text = chunks.join('')
  return {
    ref: 'bench/instant',
    call: async ({ messages }, { onDelta }) => {
      const last = messages.at(-1)
      const answer = { reasoning: '', usage, model: 'bench/instant', partial: false } as const
      const calls = last?.role === 'user' ? callsOf(last.text) : 0
      if (calls > 0) {
        const input = JSON.stringify(script.tool.input)
        const wanted = Array.from({ length: calls }, (_, index) => ({ callId: `call-${index}`, name: script.tool.name, input }))
        return { ...answer, text: '', calls: wanted, finish: 'tool-calls' }
      }
      for (const [index, chunk] of chunks.entries()) {
        if (together === 1) await Promise.resolve()
        else if (index % together === 0) await new Promise((resolve) => setImmediate(resolve))
        onDelta({ kind: 'text', text: chunk })
      }
      return { ...answer, text, calls: [], finish: 'stop' }
    },
  }
}

/** `tool` asks for one call, `tool 3` for three at once. */
const callsOf = (text: string): number => (text.startsWith('tool') ? Number(text.slice(5) || 1) : 0)
