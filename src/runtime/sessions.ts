/** Sessions by their keys, however those are spelled. */
import { agentInKey, canonicalKey } from '../contracts/session-key.rules.ts'
import { agentNamed } from './agent-table.ts'
import type { Parts } from './parts.ts'
import { Session } from './session.ts'

export const sessionsOf = (parts: Parts) => {
  const { agents } = parts
  const known = { agents: [...agents.keys()] }
  const keyOf = (key: string): string => canonicalKey(key, known)
  /** @param which.agent who answers; default: whom the key names, else the first one @throws RuntimeError not_found for an agent that is not there */
  const session = (key: string, which: { agent?: string | undefined } = {}): Session => {
    if (which.agent !== undefined) agentNamed(agents, which.agent)
    const own = keyOf(key)
    return new Session(parts, own, () => agentNamed(agents, which.agent ?? agentInKey(own, known) ?? (known.agents[0] as string)).agent)
  }
  return { session, keyOf }
}
