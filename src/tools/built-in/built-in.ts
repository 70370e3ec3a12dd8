/** The tools that come with Statecast: harmless by construction, so they need no approval and may be repeated after a crash. */
import type { Clock } from '../../contracts/environment.ts'
import type { Tool } from '../../contracts/tool.ts'
import { calculateTool } from './calculate.ts'
import { listFilesTool } from './list-files.ts'
import { nowTool } from './now.ts'
import { readFileTool } from './read-file.ts'

/** `calculate`, `now`, `read_file`, `list_files`. @param workspace the folder that the file tools may read */
export const builtInTools = ({ workspace, clock }: { workspace: string; clock: Pick<Clock, 'now'> }): Tool[] => [
  calculateTool(),
  nowTool({ clock }),
  readFileTool({ workspace }),
  listFilesTool({ workspace }),
]
