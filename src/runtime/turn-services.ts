/** What turns work with, on whatever node that is done. */
import type { turnEffects } from '../machines/index.ts'
import { promptFile } from '../tools/index.ts'
import { agentNamed } from './agent-table.ts'
import { sharedCooldowns } from './cooldowns.ts'
import type { SharedParts } from './parts.ts'

export const turnServices = (shared: SharedParts, workspace: string): Parameters<typeof turnEffects>[0] => ({
  environment: shared.environment,
  models: shared.models,
  transcripts: shared.transcripts,
  agent: (name) => agentNamed(shared.agents, name),
  files: shared.files,
  skills: shared.skills,
  sandboxMode: () => shared.config.view.value.agents?.defaults?.sandbox?.mode,
  cooldowns: sharedCooldowns(shared),
  promptFile: (path) => promptFile(workspace, path),
})
