/** What a call gives beside its answer, as it stands in the journal. */
import { RuntimeError } from '../../contracts/errors.ts'

const bytesMax = 1024 * 1024

/** @returns a copy; nothing where the tool wrote nothing @throws RuntimeError tool_output for what is no JSON, or too much of it */
export const artifactsOf = (written: Record<string, unknown>): Record<string, unknown> | undefined => {
  let text: string
  try {
    text = JSON.stringify(written) ?? '{}'
  } catch (cause) {
    throw new RuntimeError('tool_output', 'the artifacts of the call cannot be written as JSON', {
      cause,
      hint: 'write plain data into context.artifacts',
    })
  }
  if (text.length > bytesMax || new TextEncoder().encode(text).length > bytesMax)
    throw new RuntimeError('tool_output', `the artifacts of the call have more than ${bytesMax} bytes`, {
      hint: 'keep them elsewhere, and write where they are into context.artifacts',
    })
  return text === '{}' ? undefined : (JSON.parse(text) as Record<string, unknown>)
}
