/** What one call of a model sends: the prompt, the conversation as far as it fits, and the tools. All of it is read anew, so that it is as things are now. */
import type { Agent } from '../../contracts/agent.ts'
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Message } from '../../contracts/message.ts'
import type { Model, ModelRequest, ModelSettings, ToolDescription } from '../../contracts/model.ts'
import type { ModelCallInput } from '../../contracts/model-call.ts'
import { filledIn } from '../../contracts/placeholders.ts'
import type { PromptFile, PromptReport } from '../../contracts/prompt.ts'
import type { ThinkingLevel } from '../../contracts/settings.ts'
import { readSkillName, type SkillsPrompt, type SkillsUsed } from '../../contracts/skill.ts'
import { readOutputName, type Tools } from '../../contracts/tool.ts'
import type { stopwatch } from '../../contracts/tracing.ts'
import { repaired } from '../transcript/repair.rules.ts'
import { beginsWithUser, prepared } from '../transcript/sanitise-history.rules.ts'
import type { TurnServices } from '../turn/turn.services.ts'
import { splitForSummary } from './compaction.rules.ts'
import { changedParts, composePrompt, prefixHashes, promptReport } from './prompt.rules.ts'
import { type Pruning, pruned } from './pruning.rules.ts'
import { boundedResults, isTooFull } from './tool-results.rules.ts'

/** Where everything together is too long, results of tools lose their middle: they are the longest, and can be asked for again. */
const shownMax = 3000
const shortened = (messages: Message[]): Message[] =>
  messages.map((message) => {
    if (message.role !== 'tool') return message
    const text = typeof message.output === 'string' ? message.output : (JSON.stringify(message.output) ?? '')
    if (text.length <= shownMax) return message
    const half = shownMax / 2
    return { ...message, output: `${text.slice(0, half)}\n… (${text.length - shownMax} characters left out)\n${text.slice(-half)}`.toWellFormed() }
  })

export const windowOf = (model: Model): number | undefined => model.info?.contextTokens ?? model.contextTokens

/** What of the conversation is sent; what stands in the transcript is not touched. */
const shownMessages = (
  messages: Message[],
  { profile, shorten, tokens, lastCallAt }: ModelCallInput,
  window: number | undefined,
  now: number,
): Message[] => {
  // What comes last is what is to be answered, however many messages that are.
  const firstOpen = messages.findLastIndex(({ role }) => role !== 'user') + 1
  const prompt = messages.slice(firstOpen).flatMap((message) => (message.role === 'user' ? [message.id] : []))
  const capped = profile.historyTurns === undefined ? messages : prepared(messages, { historyTurns: profile.historyTurns, prompt })
  const { pruning } = profile
  const trimmed =
    pruning === undefined || window === undefined
      ? capped
      : pruned(capped, { now, lastCallAt, contextTokens: tokens ?? 0, contextWindow: window, ...(pruning as Partial<Pruning>) })
  return beginsWithUser(shorten ? shortened(trimmed) : trimmed)
}

/** Where nobody says how hard to think, a model that can does a little. What it does not have is lowered; `adaptive` leaves it to the model. */
const settingsFor = (settings: ModelSettings, wanted: ThinkingLevel | undefined, { info }: Model): ModelSettings => {
  const usual = info?.reasoning && settings.reasoning === undefined ? 'low' : undefined
  const level = wanted === 'xhigh' && info !== undefined && info.xhigh !== true ? 'high' : (wanted ?? usual)
  return level === undefined || level === 'adaptive' ? settings : { ...settings, reasoning: level === 'off' ? 'none' : level }
}

const withClientTools = (described: ToolDescription[], clientTools: readonly ToolDescription[] = []): ToolDescription[] => [
  ...described,
  ...clientTools.filter((theirs) => !described.some(({ name }) => name === theirs.name)),
]

const tooFull = (model: string): RuntimeError =>
  new RuntimeError('provider_overflow', `the conversation takes more than nine tenths of what ${model} can read`, {
    hint: 'its history is compacted; with less in one message or result it would not have to be',
    data: { estimated: true },
  })

type Lap = ReturnType<typeof stopwatch>
type Brought = { files?: readonly PromptFile[]; skills?: SkillsPrompt }

/** What has to be read; in most prompts there is nothing of it. @returns undefined where nothing is */
const broughtBy = ({ promptFile, skills }: TurnServices, agent: Agent, { profile }: ModelCallInput, lap: Lap): Promise<Brought> | undefined => {
  const paths = agent.prompt?.files
  const told = skills?.promptFor(profile)
  if (paths === undefined && told === undefined) return undefined
  return (async () => {
    const files = paths && promptFile && (await Promise.all(paths.map((path) => promptFile(path))))
    lap('prompt')
    const prompt = await told
    if (prompt) lap('skills')
    return definedOf({ files, skills: prompt })
  })()
}

/** The tools that the call offers: of the one for skills the model is told only where there are some. */
const benchOf = (tools: Tools, { profile, model }: ModelCallInput, skills: SkillsPrompt | undefined, cut: boolean): string[] => {
  const { names } = tools.bench(profile.toolLayers, model)
  const without = skills?.hasSkills === false && tools.get(readSkillName)?.source === 'skills'
  const permitted = without ? names.filter((name) => name !== readSkillName) : names
  // Where a result was cut, the rest of it can be read.
  return cut ? [...new Set([...permitted, readOutputName])] : [...permitted]
}

/** @property told what extensions add in this turn */
type Facts = { model: Model; messages: Message[]; at: number; told: string | undefined; lap: Lap }

export type PreparedCall = {
  /** All but the messages, whose files are read when it is known what the model takes. */
  request: Omit<ModelRequest, 'messages'>
  messages: Message[]
  /** Names of the tools that it may call. */
  bench: string[]
  /** The history was not whole. */
  mended: boolean
  /** What is journalled of it: the prompt where it is not as it was, and the skills. */
  noted: { prompt?: PromptReport; skills?: SkillsUsed }
}

const placeOf = (...texts: (string | undefined)[]): string | undefined => {
  const said = texts.filter((text) => text !== undefined)
  return said.length === 0 ? undefined : said.join('\n\n')
}

/** @throws RuntimeError provider_overflow where it is too long and some of it can be put away */
export const prepareCall = (services: TurnServices, input: ModelCallInput, facts: Facts): PreparedCall | Promise<PreparedCall> => {
  const reading = broughtBy(services, services.agent(input.profile.agent).agent, input, facts.lap)
  if (reading) return reading.then((brought) => put(services, input, facts, brought))
  facts.lap('prompt')
  return put(services, input, facts, {})
}

const put = (services: TurnServices, input: ModelCallInput, { model, messages, at, told, lap }: Facts, { files, skills }: Brought): PreparedCall => {
  const { profile, intro, placeholders, minimal, call } = input
  const { agent, tools } = services.agent(profile.agent)

  const history = repaired(messages, tools.nameFor)
  const window = windowOf(model) ?? profile.contextTokens
  const { messages: shown, cut } = boundedResults(shownMessages([...history], input, windowOf(model), at), window)
  const bench = benchOf(tools, input, skills, cut)
  const described = withClientTools(tools.describe(bench, input.model), profile.clientTools)
  const composed = composePrompt({
    instructions: placeholders ? filledIn(agent.instructions, placeholders) : agent.instructions,
    hasTools: described.length > 0,
    session: input.session,
    ...definedOf({ options: agent.prompt, intro: placeOf(intro, told), minimal, files, more: skills?.sections }),
  })
  lap('tools')

  const settings = settingsFor(agent.settings, input.thinking, model)
  const { format } = profile
  // A choice is for one answer: the tools of the agent that the model calls first would be called in each step.
  const toolChoice = call === 1 ? profile.toolChoice : undefined
  const request = { instructions: composed.text, tools: described, settings, limits: agent.limits, ...definedOf({ toolChoice, format }) }
  // A count of characters is rough: where nothing can be put away any more, the provider says whether it is too long.
  if (!input.shorten && isTooFull({ ...request, messages: shown }, window) && splitForSummary(messages).old.length > 0) throw tooFull(input.model)
  return {
    request,
    messages: shown,
    bench,
    mended: history !== messages,
    noted: {
      ...definedOf({ skills: skills?.used && (call === 1 ? skills.used : { version: skills.used.version }) }),
      ...reported(composed, described, input, at),
    },
  }
}

/** Journalled where it is not as it was: nothing of it changes in most calls. */
const reported = (
  composed: ReturnType<typeof composePrompt>,
  described: ToolDescription[],
  { model, minimal, prefix, compactions }: ModelCallInput,
  at: number,
): { prompt?: PromptReport } => {
  if (minimal) return {}
  const hashes = prefixHashes({ model, ...definedOf({ compactions }) }, composed, described)
  const isKnown = prefix !== undefined && changedParts(prefix, hashes).length === 0
  return isKnown ? {} : { prompt: promptReport(composed, described, { at, model, hashes }) }
}
