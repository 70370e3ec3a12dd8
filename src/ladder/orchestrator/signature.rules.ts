/** What a session remembers of the definition that its turns were made by. Pure. */
import { machineSignature } from '../../index.ts'
import type { AnyExecutable } from '../executable.ts'
import { fnv1a } from '../names.rules.ts'
import type { CheckedIntent } from '../supervisor/definition.ts'
import type { AnyOrchestrator } from './definition.ts'

/** Who does the work: an agent by its name, whatever has a chart of its author with its signature, code as code. */
const unitOf = (executable: AnyExecutable | undefined): readonly string[] => {
  if (!executable) return ['callback']
  const { type, name, machine } = executable
  return type === 'agent' ? [type, name] : [type, name, machineSignature(machine)]
}

const shapeOf = (window: unknown): string => (window === undefined ? 'none' : typeof window === 'function' ? 'callback' : 'number')

/**
 * Covers who there is to choose from, who chooses and how a turn ends. Not covered: versions, what models are told, sizes of windows, bodies of functions,
 * stores, handlers. @returns 8 hex digits, the same in every process
 */
export const signatureOf = (definition: AnyOrchestrator, intents: readonly CheckedIntent[]): string => {
  const { name, route, router, evaluate, initialAgent, maxIterations = 10, iterate = false, historyWindow = {} } = definition
  const said = JSON.stringify([
    name,
    intents
      .map((intent) => [intent.name, intent.description ?? '', ...unitOf(intent.agent)])
      .toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)),
    router?.name ?? '',
    route !== undefined,
    evaluate !== undefined,
    initialAgent ?? '',
    maxIterations,
    iterate,
    shapeOf(historyWindow.router),
    shapeOf(historyWindow.agents),
  ])
  return fnv1a(new TextEncoder().encode(said))
}
