/** The tools of ours that an agent has, by what it was told, and those that it would have otherwise. */
import type { BenchOptions, SandboxOptions } from '../contracts/bench.ts'
import type { Clock } from '../contracts/environment.ts'
import type { Tool } from '../contracts/tool.ts'
import type { RemovedTool, ToolLayer } from '../contracts/tool-policy.ts'
import { calculateTool } from './built-in/calculate.ts'
import { nowTool } from './built-in/now.ts'
import { editFileTool } from './files/edit-file.ts'
import { listFilesTool } from './files/list-files.ts'
import { readFileTool } from './files/read-file.ts'
import { searchFilesTool } from './files/search-files.ts'
import { writeFileTool } from './files/write-file.ts'
import { runCommandTool } from './shell/run-command.ts'

/** @property closed absolute paths that no tool may use, also where they lie in the workspace */
type BenchParts = { workspace: string; clock: Clock; closed?: readonly string[] }

/** How commands of an agent are kept apart from the host, as far as the agent says. */
const sandboxOf = ({ sandbox = {} }: BenchOptions): SandboxOptions => (typeof sandbox === 'string' ? { mode: sandbox } : sandbox)

/** Whether there is a sandbox to which rules for one apply. */
export const isSandboxed = (options: BenchOptions): boolean =>
  (options.sandbox !== undefined || (options.shell ?? false) !== false) && sandboxOf(options).mode !== 'off'

/** Without options: what touches nothing, and what reads files. */
export const benchTools = (
  options: BenchOptions,
  { workspace: folder, clock, closed = [] }: BenchParts,
): { tools: Tool[]; absent: RemovedTool[] } => {
  const workspace = { folder, closed }
  const { files = 'ro', shell = false, disable = [] } = options
  const sandbox = sandboxOf(options)
  const access = isSandboxed(options) ? (sandbox.access ?? 'rw') : 'rw'
  const settings = { ...(typeof shell === 'object' && shell), clock, workspace, sandbox }
  const withoutFiles = files === 'none' || files === false
  const reading =
    absence('agent', withoutFiles && `the bench has files: ${files}`) ?? absence('sandbox', access === 'none' && 'the sandbox has access: none')
  const writing =
    reading ??
    absence('agent', files === 'ro' && "the bench has files: 'ro'; 'rw' adds this one") ??
    absence('sandbox', access === 'ro' && 'the sandbox has access: ro')
  const commands = absence('agent', shell === false && 'the bench has no shell; shell: true adds it')
  const all: [Tool, Absence | undefined][] = [
    [calculateTool(), undefined],
    [nowTool({ clock }), undefined],
    [readFileTool({ workspace }), reading],
    [listFilesTool({ workspace }), reading],
    [searchFilesTool({ workspace, clock }), reading],
    [writeFileTool({ workspace }), writing],
    [editFileTool({ workspace }), writing],
    [runCommandTool(settings), commands],
  ]
  const judged = all.map(([tool, why]) => {
    const { category = 'plugin' } = tool
    return { tool, category, why: why ?? absence('agent', disable.includes(category) && disabled(category)) }
  })
  return {
    tools: judged.flatMap(({ tool, why }) => (why ? [] : [{ ...tool, source: 'bench' }])),
    absent: judged.flatMap(({ tool: { name }, category, why }) => (why ? [{ name, category, ...why }] : [])),
  }
}

type Absence = Pick<RemovedTool, 'layer' | 'why'>

const absence = (layer: Absence['layer'], why: string | false): Absence | undefined => (why === false ? undefined : { layer, why })

const disabled = (category: string): string => `the category ${category} is disabled`

/** Categories that an agent has no tool of, from wherever they come, as rules of its runs. */
export const disabledLayers = ({ disable = [] }: BenchOptions): ToolLayer[] =>
  disable.map((category) => ({ layer: 'agent', deny: [`group:${category}`], note: disabled(category) }))

/** The names of all tools that a bench may have. */
export const benchNames = (parts: BenchParts): string[] => {
  const { tools, absent } = benchTools({}, parts)
  return [...tools, ...absent].map(({ name }) => name)
}

/** `calculate`, `now` and what reads files. @param workspace the folder that the file tools may read */
export const builtInTools = ({ workspace: folder, clock }: { workspace: string; clock: Pick<Clock, 'now'> }): Tool[] => {
  const workspace = { folder, closed: [] }
  return [calculateTool(), nowTool({ clock }), readFileTool({ workspace }), listFilesTool({ workspace }), searchFilesTool({ workspace, clock })]
}
