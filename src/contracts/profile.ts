/** How a turn may run: the settings of an agent, frozen when a message is accepted. */
import { z } from 'zod'
import { AnswerFormat, ToolChoice } from './answer-format.ts'
import { ClientTools } from './client-tools.ts'
import { failoverReasons } from './model.ts'
import { DropPolicy, debounceMsMax, QueueMode, ReasoningVisibility, ThinkingLevel, UsageMode, VerboseLevel } from './settings.ts'
import { TimeZone } from './time-zone.ts'
import { ToolLayer } from './tool-policy.ts'
import { UnderstandingProfile } from './understanding.ts'

/** Messages that may wait in one session, and messages that one turn takes in. */
export const queueMax = 100

const freshnessRule = {
  mode: z.enum(['daily', 'idle']).optional(),
  atHour: z.number().optional().describe('hour of the day, 0 to 23; default 4'),
  idleMinutes: z.number().optional().describe('minutes without a message; default where the mode is idle: 60'),
}
const Freshness = z.strictObject({
  ...freshnessRule,
  timeZone: z.string().max(100).optional().describe('such as Europe/Berlin; default: UTC'),
  byType: z.partialRecord(z.enum(['direct', 'group', 'thread']), z.strictObject(freshnessRule)).optional(),
  byChannel: z.record(z.string(), z.strictObject(freshnessRule)).optional(),
})

/** `{date}` in the prompt is today. */
const MemoryFlush = z.strictObject({
  prompt: z.string().min(1).max(4000).optional(),
  reserveTokens: z.number().int().min(0).optional().describe('tokens that are kept free; default 20,000'),
  softTokens: z.number().int().min(0).optional().describe('and so many before that; default 4,000'),
})
const Pruning = z.strictObject({
  ttlMs: z.number().int().min(0).optional().describe('ms for which the provider keeps its cache; default 300,000'),
  protect: z.number().int().min(0).optional().describe('newest answers whose results are not touched; default 3'),
  allow: z.array(z.string().max(200)).max(100).optional().describe('only results of these tools; * stands for anything'),
  deny: z.array(z.string().max(200)).max(100).optional().describe('never results of these tools'),
})

/** Calls with the same result after which something is done about it. */
const LoopDetection = z.strictObject({
  warn: z.number().int().min(2).max(30).optional().describe('it is said; default 10'),
  block: z.number().int().min(2).max(30).optional().describe('the call is not run, and the model is told why; default 20'),
  end: z.number().int().min(2).max(30).optional().describe('the turn ends; default 30'),
})
export type LoopDetection = z.infer<typeof LoopDetection>

const Failover = z.strictObject({
  on: z.array(z.enum(failoverReasons)).optional().describe('the failures for which the next model is asked; default: all of them'),
  midStream: z.boolean().optional().describe('whether it is also where a piece of the answer has been shown; default true'),
})

const Approval = z.strictObject({
  timeoutMs: z
    .number()
    .int()
    .min(0)
    .max(86_400_000)
    .optional()
    .describe('ms after which the call is decided without a person; 0 and by default: never'),
  onTimeout: z.enum(['deny', 'allow']).optional().describe('default deny'),
})

export type MemoryFlush = z.infer<typeof MemoryFlush>

/** Who said which model answers: the first of these that names one. */
const modelSources = ['heartbeat', 'message', 'session', 'parent', 'channel', 'agent', 'default'] as const
export type ModelSource = (typeof modelSources)[number]

/** How a turn may run, frozen when its message is accepted: the agent as it was configured then. */
export const Profile = z
  .strictObject({
    agent: z.string().describe('name of the agent that answers'),
    model: z.string().describe('reference of the model, provider/model-id'),
    modelSource: z.enum(modelSources).optional().describe('who said that it is this model'),
    queueMode: QueueMode,
    toolExecution: z.enum(['parallel', 'sequential']),
    inDoubt: z
      .enum(['ask', 'report'])
      .describe('whether a person decides about a tool call of which nobody knows if it ran, or the model is told so'),
    stepMax: z.number().int().min(1).describe('model calls in one turn'),
    tokenMax: z.number().int().min(1).describe('tokens in one turn, read and written'),
    loopDetection: LoopDetection.optional().describe('what is done about tool calls that are repeated without progress; default: nothing'),
    toolCallMax: z.number().int().min(0).describe('tool calls in one turn'),
    turnTimeMs: z.number().int().min(1).optional().describe('ms that one turn may take, without the time that waits for people'),
    wallTimeMs: z
      .number()
      .int()
      .min(1)
      .optional()
      .describe(
        'in profiles of earlier builds, in place of `turnTimeMs`: time that waits for people counts, and a call waits for 120,000 ms at most',
      ),
    modelAttemptMax: z.number().int().min(1).describe('attempts for one model call that fails in a way that may pass'),
    fallbacks: z.array(z.string().min(1).max(200)).max(20).optional().describe('models that answer where the first one fails, in this order'),
    failover: Failover.optional().describe('when they do; default: for every failure that another model may not have'),
    primary: z
      .string()
      .max(200)
      .optional()
      .describe('model of the agent where another one was asked for: it answers last, but not for one that does not exist'),
    credential: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('the one credential that may be used where the provider of a model has it; default: whichever does not rest'),
    runTimeoutMs: z.number().int().min(1).optional().describe('ms that one turn may work, people who are asked not counted; default 600,000'),
    debounceMs: z
      .number()
      .int()
      .min(0)
      .max(debounceMsMax)
      .optional()
      .describe('ms without a new message before those that wait get their turn; default 500'),
    queueCap: z.number().int().min(1).max(queueMax).optional().describe('messages that may wait; default 100'),
    queueDrop: DropPolicy.optional().describe('what becomes of messages that are too many; default: they are refused'),
    thinking: ThinkingLevel.optional().describe('how hard the model is to think'),
    verbose: VerboseLevel.optional().describe('how much is told about tools; default off'),
    reasoning: ReasoningVisibility.optional().describe('whether the reasoning of the model is shown; default off'),
    usage: UsageMode.optional().describe('the line below an answer that says what it cost; default off'),
    freshness: Freshness.optional().describe('when a conversation is so old that a message begins another one; default: never'),
    timeStamp: z
      .union([z.boolean(), z.strictObject({ timeZone: TimeZone.optional() })])
      .optional()
      .describe('whether the model is told when a message of a person came, and in which time zone; default: it is, in UTC'),
    understanding: UnderstandingProfile.optional().describe('who looks at links and media of the message before the model does; default: nobody'),
    heartbeat: z.literal(true).optional().describe('nobody has asked: the agent looks by itself whether there is something to say'),
    memoryFlush: MemoryFlush.optional().describe(
      'before its context is shortened, the agent takes durable notes with its tools; default: it does not',
    ),
    clientTools: ClientTools.optional().describe('tools that the sender of the message runs'),
    toolChoice: ToolChoice.optional(),
    format: AnswerFormat.optional(),
    approval: Approval.optional().describe(
      'after how long a tool call that waits for a person is decided without one, and how; default: it waits until a person decides',
    ),
    lane: z.string().min(1).max(40).optional().describe('the turn waits until there is room in this lane of its node; see `lanes` of the runtime'),
    historyTurns: z.number().int().min(1).optional().describe('turns of the user that the model is shown; default: all'),
    pruning: Pruning.optional().describe('old results of tools are left out of requests when the cache of the provider is cold; default: they stay'),
    cacheMs: z.number().int().min(0).optional().describe('ms for which its provider keeps in its cache what it was sent; default 300,000'),
    contextTokens: z.number().int().min(1).optional().describe('tokens that its model can read, where the model does not say so'),
    skillFilter: z.array(z.string().max(200)).max(200).optional().describe('names of the skills that the model may be shown; default: all'),
    skillsVersion: z.string().max(40).optional().describe('which state of the skills it begins with'),
    toolLayers: z.array(ToolLayer).max(100).optional().describe('which tools it may use; default: all of its agent'),
    responsePrefix: z.string().max(200).optional().describe('put before each answer; {model}, {provider}, {thinkingLevel} … are filled in'),
  })
  .describe('settings of a turn')
export type Profile = z.infer<typeof Profile>

export const defaultProfile: Omit<Profile, 'agent' | 'model'> = {
  queueMode: 'steer',
  toolExecution: 'parallel',
  inDoubt: 'ask',
  stepMax: 50,
  tokenMax: 2_000_000,
  toolCallMax: 200,
  turnTimeMs: 86_400_000,
  modelAttemptMax: 4,
}
