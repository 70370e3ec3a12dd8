/** The groups of options of `agent()`: what fits, where an option is that was looked for elsewhere, and which setting of a turn each becomes. */
import { z } from 'zod'
import { wholeCopy } from '../actors/index.ts'
import { defaultModelLimits, type ModelChoices } from '../contracts/agent.ts'
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { ModelLimits, ModelSettings } from '../contracts/model.ts'
import { ModelReference } from '../contracts/model-ref.ts'
import { parseInput } from '../contracts/parse.ts'
import { Profile } from '../contracts/profile.ts'
import type { PromptOptions } from '../contracts/prompt.ts'
import type { DropPolicy, QueueMode } from '../contracts/settings.ts'
import { SkillFilter } from '../contracts/skill.ts'
import { hintForOption } from '../tools/index.ts'
import { PromptGroup } from './prompt-options.ts'

/** How much one turn may take. */
type TurnLimits = {
  /** Calls of the model; default 50. */
  steps?: number | undefined
  /** Tokens, read and written; default 2,000,000. */
  tokens?: number | undefined
  /** Calls of tools; default 200. */
  toolCalls?: number | undefined
  /** ms that it may take, waiting for people included; default a day. */
  wallTimeMs?: number | undefined
  /** ms that it may work, people who are asked not counted; default 600,000. */
  runTimeoutMs?: number | undefined
  /** How much one call of the model may take: `idleTimeoutMs`, `totalTimeoutMs` and `outputCharsMax`. */
  modelCall?: Partial<ModelLimits> | undefined
}

/** How much of a conversation the model is shown. */
type ContextOptions = {
  /** Tokens that the model can read, where the model does not say so. */
  tokens?: number | undefined
  /** Turns of the user that it is shown; default: all. */
  turns?: number | undefined
  /** Leaves out old results of tools when the cache of the provider is cold. Default: they stay. */
  pruning?: Profile['pruning']
  /** ms for which its provider keeps what it was sent, so that it need not be read again; default 300,000. */
  cacheMs?: number | undefined
  /** Before its context is shortened, the agent takes durable notes with its tools. Default: it does not. */
  memoryFlush?: Profile['memoryFlush']
}

/** What becomes of messages that arrive while a turn is running, and of turns that wait for room. */
type QueueOptions = {
  /** Default `steer`: they join the turn before its next step. */
  mode?: QueueMode | undefined
  /** ms without a new message before those that wait get their turn; default 500. */
  debounceMs?: number | undefined
  /** Messages that may wait; default 100. */
  cap?: number | undefined
  /** What becomes of messages that are too many; default: they are refused. */
  drop?: DropPolicy | undefined
  /** The turn waits until there is room in this lane of its node; see `lanes` of the runtime. */
  lane?: string | undefined
}

export type TurnOptions = {
  /** How hard the model is to think. */
  thinking?: Profile['thinking']
  /** Models that answer where the first one fails, in this order. Default: those of the runtime. */
  fallbacks?: readonly string[] | undefined
  /** For which failures the next model is asked; default: all that it may not have. `midStream: false`: not once a piece of the answer has been shown. */
  failover?: Profile['failover']
  /** The one credential that may be used where the provider of a model has it. Default: whichever does not rest. */
  credential?: string | undefined
  /** Further attempts for a model call that fails in a way that may pass; default 3. */
  maxRetries?: number | undefined
  limits?: TurnLimits | undefined
  context?: ContextOptions | undefined
  queue?: QueueOptions | undefined
  /** Names of the skills that it may use; none where it is empty. Default: all. */
  skills?: readonly string[] | undefined
  /** What its system prompt has beside the instructions. Default: what the runtime says, else nothing. */
  prompt?: PromptOptions | undefined
  /** Whether the tool calls of one answer run at the same time; default `parallel`. */
  toolExecution?: Profile['toolExecution'] | undefined
  /** How long a tool call waits for a person (default 120,000 ms), and whether it is then denied (default) or runs. */
  approval?: Profile['approval']
  /** Whether the model is told when a message of a person came, and in which time zone. Default: it is, in UTC. */
  timeStamp?: Profile['timeStamp']
  /** What is done about tool calls that are repeated without progress: a warning after 10, blocked after 20, the end after 30. Default: nothing. */
  loopDetection?: Profile['loopDetection'] | true
  /** Whether a person decides about a tool call of which nobody knows if it ran (default), or the model is told so. */
  inDoubt?: Profile['inDoubt'] | undefined
}

const turn = Profile.shape
const modelCall = z.strictObject({ idleTimeoutMs: z.number().min(1), totalTimeoutMs: z.number().min(1), outputCharsMax: z.number().min(1) }).partial()
const groups = {
  limits: z
    .strictObject({
      steps: turn.stepMax,
      tokens: turn.tokenMax,
      toolCalls: turn.toolCallMax,
      wallTimeMs: turn.turnTimeMs,
      runTimeoutMs: turn.runTimeoutMs,
      modelCall,
    })
    .partial(),
  context: z
    .strictObject({
      tokens: turn.contextTokens,
      turns: turn.historyTurns,
      pruning: turn.pruning,
      memoryFlush: turn.memoryFlush,
      cacheMs: turn.cacheMs,
    })
    .partial(),
  settings: z
    .strictObject({
      temperature: z.number().min(0),
      maxOutputTokens: z.int().min(1),
      reasoning: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']),
    })
    .partial(),
  choice: z.strictObject({ allowed: z.array(ModelReference), aliases: z.record(z.string(), ModelReference) }).partial(),
  prompt: PromptGroup,
  queue: z.strictObject({ mode: turn.queueMode, debounceMs: turn.debounceMs, cap: turn.queueCap, drop: turn.queueDrop, lane: turn.lane }).partial(),
}
const { choice, ...others } = groups
const Models = z.strictObject({ model: ModelReference, fallbacks: z.array(ModelReference).max(20), choice }).partial()
const Options = z
  .strictObject({
    ...others,
    instructions: z.string(),
    thinking: turn.thinking,
    credential: turn.credential,
    failover: turn.failover,
    // One more is the number of attempts, which has to be a number that counts.
    maxRetries: z
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER - 1),
    toolExecution: turn.toolExecution,
    inDoubt: turn.inDoubt,
    approval: turn.approval,
    timeStamp: turn.timeStamp,
    loopDetection: z.union([z.literal(true), turn.loopDetection.unwrap()]),
    skills: SkillFilter,
  })
  .partial()

/** @throws RuntimeError bad_request, naming the field */
export const promptOptions = (given: unknown): PromptOptions => {
  refuseUnknown('prompt', given, PromptGroup)
  return parseInput(z.strictObject({ prompt: PromptGroup }), { prompt: given }, 'see docs/guides/prompt.md').prompt
}

/** All that `agent()` can be told. */
export const agentOptions = [
  'name',
  'tools',
  'services',
  'mcp',
  'bench',
  'toolPolicy',
  'beforeTool',
  'wrapModel',
  'environment',
  ...Object.keys(Models.shape),
  ...Object.keys(Options.shape),
]

/** Options of other libraries, and of ours where they are not, with what to write instead. */
const elsewhere: Record<string, string> = {
  stepMax: 'limits: { steps }',
  maxSteps: 'limits: { steps }',
  mcpServers: 'mcp: [ … ], with the servers under mcp: { servers: { … } } of the app',
  stopWhen: 'limits: { steps }',
  tokenMax: 'limits: { tokens }',
  toolCallMax: 'limits: { toolCalls }',
  wallTimeMs: 'limits: { wallTimeMs }',
  runTimeoutMs: 'limits: { runTimeoutMs }',
  modelAttemptMax: 'maxRetries, which is one less: the first attempt is none',
  queueMode: 'queue: { mode }',
  debounceMs: 'queue: { debounceMs }',
  queueCap: 'queue: { cap }',
  queueDrop: 'queue: { drop }',
  lane: 'queue: { lane }',
  contextTokens: 'context: { tokens }',
  historyTurns: 'context: { turns }',
  pruning: 'context: { pruning }',
  memoryFlush: 'context: { memoryFlush }',
  system: 'instructions',
  temperature: 'settings: { temperature }',
  maxOutputTokens: 'settings: { maxOutputTokens }',
  steps: 'limits: { steps }',
  toolCalls: 'limits: { toolCalls }',
  idleTimeoutMs: 'limits: { modelCall: { idleTimeoutMs } }',
  totalTimeoutMs: 'limits: { modelCall: { totalTimeoutMs } }',
  outputCharsMax: 'limits: { modelCall: { outputCharsMax } }',
  maxTokens: 'settings: { maxOutputTokens }',
  topP: 'settings: { temperature }: it is the only one of its sort that is passed on',
  allowed: 'choice: { allowed }',
  aliases: 'choice: { aliases }',
  'settings.maxTokens': 'settings: { maxOutputTokens }',
  'limits.stepMax': 'limits: { steps }',
  'limits.tokenMax': 'limits: { tokens }',
  'limits.toolCallMax': 'limits: { toolCalls }',
  'limits.idleTimeoutMs': 'limits: { modelCall: { idleTimeoutMs } }',
  'limits.totalTimeoutMs': 'limits: { modelCall: { totalTimeoutMs } }',
  'limits.outputCharsMax': 'limits: { modelCall: { outputCharsMax } }',
}
/** What people on channels see belongs to chat. */
const ofChat = new Set(['delivery', 'heartbeat', 'freshness', 'verbose', 'reasoning', 'usage', 'responsePrefix'])

/** @param agent its name, for what belongs to chat */
export const hintForAgentOption = (agent: unknown, name: string): string =>
  ofChat.has(name)
    ? `this is for people on channels: write extensions: [chat({ agents: { ${typeof agent === 'string' ? agent : 'main'}: { ${name} } } })], with chat of statecast/chat`
    : hintForOption(name, agentOptions, elsewhere)

/** @throws RuntimeError bad_request, naming the first option of a group that is not there, and its place */
const refuseUnknown = (group: string, given: unknown, schema: z.ZodObject): void => {
  if (typeof given !== 'object' || given === null) return
  const known = Object.keys(schema.shape)
  const name = Object.keys(given).find((one) => !known.includes(one))
  if (name === undefined) return
  const field = `${group}.${name}`
  throw new RuntimeError('bad_request', `${group} has no option '${name.slice(0, 80)}'`, {
    field,
    hint: hintForOption(name, known, elsewhere, field),
  })
}

type AgentSettings = {
  instructions: string
  prompt?: PromptOptions
  model?: string
  choice?: ModelChoices
  settings: ModelSettings
  limits: ModelLimits
  profile: Partial<Profile>
}

/** What an agent is told beside its name and tools, in a copy that nobody can change later. @throws RuntimeError bad_request, too_large; naming the field */
export const agentSettings = (given: Record<string, unknown>): AgentSettings => {
  // Said once, instead of with every message.
  const { copy } = wholeCopy(given)
  const { model, fallbacks, choice, ...rest } = copy
  for (const [group, schema] of Object.entries(groups)) refuseUnknown(group, copy[group], schema)
  refuseUnknown('limits.modelCall', (copy.limits as { modelCall?: unknown } | undefined)?.modelCall, modelCall)
  const models = parseInput(
    Models,
    { model, fallbacks, choice },
    "write 'provider/model-id': model and each of fallbacks are one, and each of choice: { allowed: [ … ], aliases: { fast: … } }",
  )
  const {
    instructions = '',
    settings = {},
    limits = {},
    context = {},
    queue = {},
    prompt,
    maxRetries,
    loopDetection,
    skills,
    ...own
  } = parseInput(Options, rest, 'see docs/guides/app.md')
  const profile = definedOf({
    ...own,
    loopDetection: loopDetection === true ? {} : loopDetection,
    fallbacks: models.fallbacks,
    skillFilter: skills,
    modelAttemptMax: maxRetries === undefined ? undefined : maxRetries + 1,
    stepMax: limits.steps,
    tokenMax: limits.tokens,
    toolCallMax: limits.toolCalls,
    turnTimeMs: limits.wallTimeMs,
    runTimeoutMs: limits.runTimeoutMs,
    contextTokens: context.tokens,
    historyTurns: context.turns,
    pruning: context.pruning,
    memoryFlush: context.memoryFlush,
    cacheMs: context.cacheMs,
    queueMode: queue.mode,
    debounceMs: queue.debounceMs,
    queueCap: queue.cap,
    queueDrop: queue.drop,
    lane: queue.lane,
  })
  const limitsOfCall = { ...defaultModelLimits, ...definedOf(limits.modelCall ?? {}) }
  return frozen({
    ...definedOf({ model: models.model, choice: models.choice as ModelChoices | undefined }),
    instructions,
    ...definedOf({ prompt }),
    settings: definedOf(settings),
    limits: limitsOfCall,
    profile,
  })
}

const frozen = <Part>(part: Part): Part => {
  if (typeof part === 'object' && part !== null) for (const inner of Object.values(Object.freeze(part))) frozen(inner)
  return part
}
