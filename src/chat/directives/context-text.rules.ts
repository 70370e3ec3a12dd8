/** What `/context` answers. */
import type { ContextReport } from '../../contracts/prompt.ts'
import { tokensText } from './numbers.rules.ts'

export const contextText = (form: 'list' | 'detail' | 'json', report: ContextReport): string => {
  if (form === 'json') return JSON.stringify(report)
  const { prompt, history } = report
  const size = ({ chars, tokens }: { chars: number; tokens: number }) => `${chars} characters, about ${tokensText(tokens)} tokens`
  const detail = <Line>(lines: Line[]): Line[] => (form === 'detail' ? lines : [])
  const toolChars = prompt.tools.reduce((sum, { chars }) => sum + chars, 0)
  return [
    ...prompt.sections.map((section) => `${section.name}: ${size(section)}`),
    ...prompt.files.map(
      ({ path, raw, injected, truncated, missing, repeated }) =>
        `  file ${path}: ${missing ? 'missing' : repeated ? 'repeated, left out' : `${injected} of ${raw} characters${truncated ? ', cut' : ''}`}`,
    ),
    ...detail(prompt.skills.map((skill) => `  skill ${skill.name}: ${size(skill)}`)),
    `tools: ${prompt.tools.length}, ${size({ chars: toolChars, tokens: Math.ceil(toolChars / 4) })}`,
    ...detail(prompt.tools.map((tool) => `  tool ${tool.name}: ${tool.chars} characters, ${tool.schema} of them for ${tool.properties} parameters`)),
    `before the conversation: ${size(prompt)}`,
    ...history.map((part) => `${part.role} messages: ${part.count}, ${size(part)}`),
    `in all: ${size(report)}`,
  ].join('\n')
}
