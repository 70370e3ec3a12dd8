/** What a session sends its model, and how much room that takes. */
import type { Agent } from '../contracts/agent.ts'
import { definedOf } from '../contracts/defined.ts'
import type { ContextReport } from '../contracts/prompt.ts'
import type { SessionRecord } from '../contracts/session.ts'
import type { Address } from '../contracts/subjects.ts'
import { composePrompt, contextReport, prefixHashes, promptReport } from '../machines/index.ts'
import { agentNamed } from './agent-table.ts'
import type { SharedParts } from './parts.ts'
import { profileOf } from './receive.ts'

/** As it was with the newest call; before the first one as it would be, but for files and what others bring. @param record undefined where there is no session yet */
export const contextOf = async (
  { agents, models, transcripts, environment, config }: SharedParts,
  address: Address,
  { agent: { name }, record }: { agent: Agent; record: SessionRecord | undefined },
): Promise<ContextReport> => {
  const messages = record === undefined ? [] : await transcripts.read(address)
  if (record?.prompt) return contextReport(record.prompt, messages)
  const { agent, tools } = agentNamed(agents, name)
  const model = record?.toggles.model ?? agent.model ?? models.defaultRef
  const { toolLayers } = profileOf({ agent, models, config: config.view, key: address.id })
  const described = tools.describe(tools.bench(toolLayers, model).names, model)
  const composed = composePrompt({
    instructions: agent.instructions,
    hasTools: described.length > 0,
    session: address.id,
    ...definedOf({ options: agent.prompt }),
  })
  const hashes = prefixHashes({ model }, composed, described)
  return contextReport(promptReport(composed, described, { at: environment.clock.now(), model, hashes }), messages)
}
