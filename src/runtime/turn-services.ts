/** What turns work with, on whatever node that is done. */
import { definedOf } from '../contracts/defined.ts'
import type { turnEffects } from '../machines/index.ts'
import { promptFile } from '../tools/index.ts'
import { agentNamed } from './agent-table.ts'
import { sharedCooldowns } from './cooldowns.ts'
import type { SessionSockets } from './extension.ts'
import type { SharedParts } from './parts.ts'

export const turnServices = (
  shared: SharedParts,
  workspace: string,
  { understanding, references }: Pick<SessionSockets, 'understanding' | 'references'>,
): Parameters<typeof turnEffects>[0] => ({
  environment: shared.environment,
  models: shared.models,
  transcripts: shared.transcripts,
  agent: (name) => agentNamed(shared.agents, name),
  files: shared.files,
  skills: shared.skills,
  sandbox: () => shared.config.view.value.agents?.defaults?.sandbox,
  cooldowns: sharedCooldowns(shared),
  promptFile: (path) => promptFile(workspace, path),
  ...definedOf({ understanding, references }),
})
