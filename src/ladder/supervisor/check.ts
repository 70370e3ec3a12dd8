/** What is wrong with a supervisor as its author wrote it, said where it is written. */

import { Agent } from '../agent/agent.ts'
import { checkWritten, placeholderKind } from '../agent/placeholders.ts'
import { commonKinds } from '../audience.ts'
import { LadderError } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import {
  anything,
  code,
  count,
  either,
  isSessionAgent,
  type Kind,
  type KindsOf,
  list,
  ms,
  optionsIn,
  record,
  schema,
  sessionAgentHint,
  text,
} from '../given.ts'
import type { HistoryReader } from '../history.rules.ts'
import { isKindName } from '../names.rules.ts'
import { isSnapshotStore } from '../stores/mirror.ts'
import { type AnySupervisor, type CheckedHelper, type CheckedIntent, type Code, END, type Intent } from './definition.ts'

export const executable: Kind = {
  is: (value) => value instanceof Executable,
  write: 'what agent(), workflow() and the like of statecast/ladder returned',
}

/** What supervisors and orchestrators take alike. */
export const supervisorKinds: KindsOf<Omit<AnySupervisor, 'intents' | 'route' | 'router' | 'evaluate'>> = {
  ...commonKinds,
  input: schema,
  state: record('{ count: 0 }'),
  goal: text,
  systemPrompt: text,
  history: list,
  historyWindow: record('{ agents: 15, router: 5 }'),
  classifier: anything,
  ack: anything,
  initialAgent: text,
  maxIterations: count(1),
  maxFanOut: count(1),
  artifacts: record('{ schema }'),
  output: schema,
  middleware: list,
  snapshotStore: anything,
}
export const choosingKinds: KindsOf<Pick<AnySupervisor, 'intents' | 'route' | 'router' | 'evaluate'>> = {
  intents: anything,
  route: anything,
  router: anything,
  evaluate: code('({ state }) => ({ satisfied: state.isDone })'),
}

const intentKinds: KindsOf<Omit<CheckedIntent, 'name'>> = {
  agent: anything,
  run: anything,
  input: code('({ state }) => state.text'),
  placeholders: placeholderKind,
  description: text,
  output: schema,
  mode: anything,
  streamTo: anything,
  next: either(text, list, code("({ state }) => 'critic'")),
  history: code('({ history }) => history.slice(-3)'),
  timeoutMs: ms,
}
const artifactKinds: KindsOf<NonNullable<AnySupervisor['artifacts']>> = { schema, finalizeArtifacts: code('(artifacts) => artifacts') }
const { agent, run, input, output } = intentKinds
const helperKinds: Readonly<Record<'classifier' | 'ack', Readonly<Record<string, Kind>>>> = {
  classifier: { agent, run, input, refine: code('(context, said) => said.intent') },
  ack: { agent, run, input, output },
}

const intentName = /^[A-Za-z][\w-]{0,63}$/

/** @throws LadderError SUPERVISOR_CONFIG, SUPERVISOR_INTENT_MIXED_DISPATCH, SUPERVISOR_INTENT_DESCRIPTION_REQUIRED */
export const checkedIntents = (definition: AnySupervisor): readonly CheckedIntent[] => {
  const { name, intents, route, router, classifier, initialAgent } = definition
  if (!isKindName(name))
    throw wrong(`'${String(name).slice(0, 40)}' is no name of a supervisor`, 'use lower-case letters, digits and hyphens, at most 32')
  // What a part of its chart is called.
  if (name === 'dispatching') throw wrong(`'${name}' is no name of a supervisor`, 'a state of each of them is called so: choose another one')
  if (Array.isArray(intents)) throw wrong(`intents of '${name}' are a list`, 'write them by name: intents: { writer, critic: { agent: critic } }')
  if (typeof intents !== 'object' || intents === null || Object.keys(intents).length === 0)
    throw wrong(`the supervisor '${name}' has nobody to choose from`, 'write intents: { writer, critic: { agent: critic, description: … } }')
  if (route !== undefined && router !== undefined) throw wrong(`the supervisor '${name}' has route and router`, 'give it one of them')
  if (route === undefined && router === undefined && classifier === undefined)
    throw wrong(`the supervisor '${name}' has neither route nor router`, 'give it one of them, or a classifier')
  if (classifier !== undefined && initialAgent !== undefined)
    throw wrong(`the supervisor '${name}' has classifier and initialAgent`, 'both say who begins: leave one of them out')
  if (route !== undefined && typeof route !== 'function') throw wrong(`route of '${name}' is no function`, "write route: ({ state }) => 'writer'")
  if (router !== undefined && !(router instanceof Executable))
    throw wrong(`router of '${name}' cannot be asked`, 'give what router() or agent() of statecast/ladder returned')
  if (router instanceof Agent && router.isText)
    throw wrong(
      `router of '${name}' answers with text, which chooses nobody`,
      'write router({ intents: [ … ], model }), which is told to answer { next, reasoning }; or give agent() an output that has next',
    )
  if (definition.artifacts !== undefined) optionsIn(definition.artifacts, artifactKinds, { who: `artifacts of '${name}'`, code: 'SUPERVISOR_CONFIG' })
  if (definition.snapshotStore !== undefined && !isSnapshotStore(definition.snapshotStore))
    throw wrong(`snapshotStore of '${name}' is no store`, 'give memorySnapshots(), sqliteSnapshots(…) or one of your own')
  checkWindows(definition)
  const checked = Object.entries(intents).map(([intent, given]) => checkedIntent(name, intent, given))
  if (initialAgent !== undefined && !Object.hasOwn(intents, initialAgent))
    throw wrong(`initialAgent of '${name}' is '${String(initialAgent)}', which is not there`, `there are: ${Object.keys(intents).join(', ')}`)
  const mute = checked.find(({ description }) => description === undefined || description === '')
  const helper = checkedHelper(definition, 'classifier')
  if (mute && (router || (helper?.agent && !helper.input)))
    throw new LadderError('SUPERVISOR_INTENT_DESCRIPTION_REQUIRED', `the intent '${mute.name}' of '${name}' has no description`, {
      hint: 'who chooses sees nothing else of it: say when to choose it',
      context: { intent: mute.name },
    })
  return checked
}

// biome-ignore lint/suspicious/noExplicitAny: one of any types
const checkedIntent = (supervisor: string, name: string, given: Intent<any, any, string>): CheckedIntent => {
  const where = `the intent '${name}' of '${supervisor}'`
  if (isSessionAgent(given)) throw wrong(`${where} is nothing that can be done`, sessionAgentHint)
  if (!intentName.test(name) || name === END || name in Object.prototype)
    throw wrong(`'${name.slice(0, 40)}' is no name of an intent of '${supervisor}'`, 'begin with a letter; letters, digits, _ and - may follow')
  if (given instanceof Executable) return { name, agent: given, ...descriptionOf(given) }
  if (typeof given === 'function') return { name, run: given as Code<never, never, unknown> }
  if (typeof given !== 'object' || given === null) throw wrong(`${where} is nothing that can be done`, 'give an agent, a workflow or a function')
  const { agent, run, ...more } = optionsIn<Omit<CheckedIntent, 'name'>>(given, intentKinds, {
    who: where,
    code: 'SUPERVISOR_CONFIG',
  })
  if (agent !== undefined && run !== undefined)
    throw new LadderError('SUPERVISOR_INTENT_MIXED_DISPATCH', `${where} has agent and run`, {
      hint: 'leave one of them out',
      context: { intent: name },
    })
  if (agent === undefined ? typeof run !== 'function' : !(agent instanceof Executable))
    throw wrong(
      `${where} is nothing that can be done`,
      isSessionAgent(agent) ? sessionAgentHint : 'give it agent: what agent() or workflow() returned, or run: a function',
    )
  checkStream(where, agent, more)
  checkWritten({ agent, ...more }, { who: where, code: 'SUPERVISOR_CONFIG' })
  return { name, ...(agent ? { agent, ...descriptionOf(agent) } : { run: run as Code<never, never, unknown> }), ...more }
}

const checkStream = (where: string, agent: AnyExecutable | undefined, { mode, streamTo, output }: Partial<CheckedIntent>): void => {
  if (mode === undefined && streamTo === undefined) return
  if (mode !== 'stream') throw wrong(`${where} has streamTo and no mode`, "write mode: 'stream'")
  if (typeof streamTo !== 'string' || streamTo === '' || streamTo in Object.prototype)
    throw wrong(`${where} streams to no key of the state`, "write streamTo: 'text'")
  if (agent?.type !== 'agent') throw wrong(`${where} streams, and is no agent`, 'only what agent() returned writes prose')
  if (output !== undefined) throw wrong(`${where} streams, and has an output schema`, 'leave one of them out: prose fits no schema')
}

/** The classifier or the acknowledgement in the one form that the rest of the code knows. @throws LadderError SUPERVISOR_CONFIG */
export const checkedHelper = (definition: AnySupervisor, what: 'classifier' | 'ack'): CheckedHelper | undefined => {
  const given = definition[what] as unknown
  const bad = (message: string) => wrong(`${what} of '${definition.name}' ${message}`, 'give an agent, a function, { agent, … } or { run, … }')
  if (given === undefined) return undefined
  if (given instanceof Executable) return { agent: given }
  if (typeof given === 'function') return { run: given as Code<never, never, unknown> }
  if (typeof given !== 'object' || given === null) throw bad('is nothing that can be done')
  const checked: CheckedHelper = optionsIn(given, helperKinds[what], { who: `${what} of '${definition.name}'`, code: 'SUPERVISOR_CONFIG' })
  const { agent, run } = checked
  if ((agent === undefined) === (run === undefined)) throw bad(agent ? 'has agent and run' : 'has neither agent nor run')
  if (agent ? !(agent instanceof Executable) : typeof run !== 'function') throw bad('is nothing that can be done')
  return checked
}

const readers: readonly string[] = ['agents', 'router', 'ack'] satisfies HistoryReader[]
const checkWindows = ({ name, historyWindow = {} }: AnySupervisor): void => {
  for (const [reader, window] of Object.entries(historyWindow)) {
    if (!readers.includes(reader)) throw wrong(`historyWindow of '${name}' has ${reader}`, `there are ${readers.join(', ')}`)
    if (window !== undefined && typeof window !== 'function' && !Number.isInteger(window))
      throw wrong(`historyWindow.${reader} of '${name}' is ${String(window)}`, 'it is a whole number, or a function that picks messages')
  }
}

const descriptionOf = ({ description }: AnyExecutable) => (description === undefined ? {} : { description })

const wrong = (message: string, hint: string): LadderError => new LadderError('SUPERVISOR_CONFIG', message, { hint })
