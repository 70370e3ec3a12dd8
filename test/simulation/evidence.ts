/** What is left of a simulation, as the checker reads it. */
import type { Message } from '../../src/index.ts'
import type { Simulation } from '../../src/testing/simulation/scenario.ts'
import { type Commit, type Expect, readCommits } from '../checker/evidence.ts'

type Address = { kind: string; id: string }

/** The commits of one root, in the order in which they came to stand in the store. */
export const evidenceOf = async (world: Simulation, address: Address, expect: Expect): Promise<Commit[]> => {
  const name = `${address.kind}/${address.id}`
  const frames = await world.transport.journal.read(address, 1)
  return readCommits(name, frames, expect, ({ seq }) => {
    const order = world.orderOf(address, seq)
    expect(order !== undefined, `${name} has a commit ${seq} that nobody wrote`)
    return order ?? 0
  })
}

/** Every call has one result, right behind the answer that asked for it. */
export const checkPairs = (session: string, history: readonly Message[]): string[] => {
  let open: string[] = []
  const violations: string[] = []
  for (const message of history) {
    if (message.role === 'tool') {
      if (!open.includes(message.callId)) violations.push(`session/${session}: a result for ${message.callId}, which is not asked for here`)
      open = open.filter((id) => id !== message.callId)
      continue
    }
    if (open.length > 0) violations.push(`session/${session}: no result for ${open.join(', ')}`)
    open = message.role === 'assistant' ? message.calls.map(({ callId }) => callId) : []
  }
  if (open.length > 0) violations.push(`session/${session}: no result for ${open.join(', ')}`)
  return violations
}
