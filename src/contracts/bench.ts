/** The tools of ours that an agent has: what `agent({ bench })` takes. */
import { z } from 'zod'
import { ToolCategory } from './tool-policy.ts'

/** A command line may hold a key without anybody having meant it; one in the environment was put there. Keys of models are never a command's business. */
const keyLike = /(?:API_?KEY|AUTH_TOKEN)$|^STATECAST_/i

const Shell = z.strictObject({
  approval: z.boolean().optional().describe('whether a person is asked before each command; default true'),
  commands: z.array(z.string().min(1).max(200)).max(100).optional().describe('only these programs, * for anything; default: any'),
  timeoutMs: z.number().int().min(1).max(3_600_000).optional().describe('ms for one command; default 60,000'),
  outputCharsMax: z.number().int().min(200).max(200_000).optional().describe('characters kept of each of stdout and stderr; default 40,000'),
  env: z
    .record(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable')
        .refine((name) => !keyLike.test(name), 'is the name of a key: commands get no keys of models'),
      z.string().max(10_000),
    )
    .optional()
    .describe('variables besides PATH, HOME and LANG'),
})

export const sandboxModes = ['off', 'auto', 'bwrap', 'podman', 'docker'] as const
export type SandboxMode = (typeof sandboxModes)[number]

const bytes = (min: number) =>
  z
    .number()
    .int()
    .min(min)
    .max(2 ** 50)
const mebibyte = 1024 ** 2

export const SandboxLimits = z
  .strictObject({
    processes: z.number().int().min(1).max(1_000_000).describe('processes and threads of one command; default 512'),
    memoryBytes: bytes(8 * mebibyte).describe('memory of all processes of one command; default 1 GiB'),
    cpuMs: z
      .number()
      .int()
      .min(1_000)
      .max(86_400_000)
      .describe('ms of CPU time of all processes of one command; default: unlimited within timeoutMs'),
    fileBytes: bytes(4_096).describe('size of each file that a command writes; default 512 MiB'),
    workspaceBytes: bytes(mebibyte).describe('growth of the workspace during one command; default 1 GiB'),
    tmpBytes: bytes(mebibyte).describe('size of the temporary folder of one command; default 512 MiB'),
    freeBytes: bytes(0).describe('free space that a command leaves on the disk of the workspace; default 512 MiB'),
  })
  .partial()
/** Upper limits of one command; what is left out has its default, see {@link sandboxLimitDefaults}. */
export type SandboxLimits = z.infer<typeof SandboxLimits>

export const sandboxLimitDefaults = {
  processes: 512,
  memoryBytes: 1024 * mebibyte,
  fileBytes: 512 * mebibyte,
  workspaceBytes: 1024 * mebibyte,
  tmpBytes: 512 * mebibyte,
  freeBytes: 512 * mebibyte,
} as const satisfies SandboxLimits

const Sandbox = z.strictObject({
  mode: z
    .enum(sandboxModes)
    .optional()
    .describe('off: on the host; auto: the first that works here. Default: as configured in agents.defaults.sandbox.mode, else auto'),
  access: z.enum(['rw', 'ro', 'none']).optional().describe('to the workspace: ro removes tools that write, none all tools for files. Default rw'),
  network: z.boolean().optional().describe('whether commands reach the network; default false'),
  image: z.string().min(1).max(300).optional().describe('image of containers, which has to be there; default debian:stable-slim'),
  readable: z.array(z.string().startsWith('/').max(1000)).max(50).optional().describe('absolute paths that commands may read besides'),
  limits: SandboxLimits.optional().describe('upper limits of one command, in every mode; default: as configured in agents.defaults.sandbox.limits'),
})
export type SandboxOptions = z.infer<typeof Sandbox>

export const BenchOptions = z.strictObject({
  files: z
    .union([z.enum(['rw', 'ro', 'none']), z.literal(false)])
    .optional()
    .describe('tools for files of the workspace: rw, ro (default), or none'),
  shell: z.union([z.boolean(), Shell]).optional().describe('run_command; default false'),
  sandbox: z
    .union([z.enum(sandboxModes), Sandbox])
    .optional()
    .describe('where commands run; default: as configured in agents.defaults.sandbox.mode, else auto'),
  disable: z.array(ToolCategory).max(20).optional().describe('categories of which this agent has no tool, wherever they come from'),
})
export type BenchOptions = z.infer<typeof BenchOptions>
