/** A model that calls the tool which the user names, `tool {"json":1}`, and repeats what came back. */
import type { ModelRequest } from '../../src/index.ts'

export const obedientModel = ({ messages }: ModelRequest) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return { text: JSON.stringify(last.output) }
  const [, name = '', input = ''] = /^(\S+) (.*)$/s.exec(last?.role === 'user' ? last.text : '') ?? []
  return name === '' ? { text: 'hello' } : { rawCalls: [{ name, input }] }
}
