/** What users read of tools while they work, where they want to (OC-81). */
import type { VerboseLevel } from '../../contracts/settings.ts'

const inputCharsMax = 200
const outputCharsMax = 1500

/** `undefined` where nothing is to be told. */
export const toolStartText = (verbose: VerboseLevel, name: string, input: unknown): string | undefined =>
  verbose === 'off' ? undefined : `Tool ${name}${shown(input, inputCharsMax)}`

export const toolEndText = (verbose: VerboseLevel, name: string, output: unknown): string | undefined =>
  verbose === 'full' ? `Tool ${name} answered${shown(output, outputCharsMax) || ' nothing'}` : undefined

const shown = (value: unknown, max: number): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  if (text === '' || text === '{}') return ''
  return `: ${text.length <= max ? text : `${text.slice(0, max).toWellFormed()} … (${text.length - max} characters more)`}`
}
