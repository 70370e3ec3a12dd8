/** `ladder({ serve: true })`: runs through every door of a node, over HTTP, the socket and NATS alike. */
import { z } from 'zod'
import { command, type ExtensionCommand, isRuntimeError, RuntimeError } from '../../index.ts'
import type { Result } from '../envelope.ts'
import { LadderError } from '../errors.ts'
import type { AnyExecutable } from '../executable.ts'
import { Plan } from '../planner/plan.rules.ts'
import { Planner } from '../planner/planner.ts'
import { jsonSchemaOf } from '../schema.ts'
import { runtimeCodeOf } from './refusal.ts'

const Name = z.string().min(1).max(64).describe('of the executable, as ladder.list has it')
const RunId = z.string().min(1).max(200)
const Run = { name: Name, runId: RunId }
const Wait = {
  wait: z.boolean().optional().describe('whether the answer waits for the end of the run; default: no'),
  timeoutMs: z.number().int().min(0).max(3_600_000).optional().describe('ms to wait; default 30,000. The run goes on after it'),
}
const waitDefaultMs = 30_000
type Waiting = { wait?: boolean | undefined; timeoutMs?: number | undefined }

/** @property status `running`, or how it has ended, and then with its result */
type Answer = { runId: string; status: string } & Partial<Result<unknown>>

export const ladderCommands = (executables: readonly AnyExecutable[]): Readonly<Record<string, ExtensionCommand>> => {
  const named = (name: string): AnyExecutable => {
    const found = executables.find((one) => one.name === name)
    if (found) return found
    throw new RuntimeError('not_found', `there is no executable '${name.slice(0, 80)}'`, {
      field: 'name',
      hint: `there are: ${executables.map((one) => one.name).join(', ')}`,
    })
  }
  const answered = async (executable: AnyExecutable, runId: string, { wait = false, timeoutMs = waitDefaultMs }: Waiting): Promise<Answer> => {
    const result = await (wait ? executable.outcome(runId, { timeout: timeoutMs }).catch(unlessLate) : executable.look(runId))
    return result ? { runId, status: result.report.status, ...result } : { runId, status: 'running' }
  }
  const list = command({
    input: z.strictObject({}).describe('the executables of this node: name, type, version, description, and the JSON Schema of what it takes'),
    scope: 'read',
    run: () =>
      JSON.parse(
        JSON.stringify({
          executables: executables.map(({ name, type, version, description, schema }) => ({
            name,
            type,
            ...(version !== undefined && { version }),
            ...(description !== undefined && { description }),
            ...(schema && { input: jsonSchemaOf(schema) }),
          })),
        }),
      ),
  })
  const execute = command({
    input: z
      .strictObject({
        name: Name,
        input: z.unknown().optional().describe('what it takes'),
        runId: RunId.optional().describe('names the run: executing it again attaches to it, and never begins it twice; default: a new one'),
        ...Wait,
      })
      .describe('begins a run; answers { runId, status }, and with wait its result'),
    scope: 'write',
    run: ({ name, input, runId, ...waiting }) =>
      told(async () => {
        const executable = named(name)
        const begun = await inTime((signal) => executable.start(input, { signal, ...(runId !== undefined && { runId }) }), waiting)
        return answered(executable, begun, waiting)
      }),
  })
  const result = command({
    input: z.strictObject({ ...Run, ...Wait }).describe('how a run is: running, or its data or error, usage and report'),
    scope: 'read',
    run: ({ name, runId, ...waiting }) => told(() => answered(named(name), runId, waiting)),
  })
  const resume = command({
    input: z
      .strictObject({
        ...Run,
        force: z.literal(true).optional().describe('also where another version of the executable has begun it, if this one comes to the same state'),
        ...Wait,
      })
      .describe('goes on with a run that failed or was cancelled, where it stopped'),
    scope: 'write',
    run: ({ name, runId, force, ...waiting }) =>
      told(async () => {
        const executable = named(name)
        await executable.goOn(runId, force ? { force } : {})
        return answered(executable, runId, waiting)
      }),
  })
  const send = command({
    input: z
      .strictObject({
        ...Run,
        event: z.looseObject({ type: z.string().min(1).max(64) }).describe('what a step waits for, with its data'),
        id: z.string().min(1).max(200).optional().describe('names the event: sent again under that name it counts once'),
      })
      .describe('tells a run what a step of it waits for, or one of a run inside of it'),
    scope: 'write',
    run: ({ name, runId, event, id }) =>
      told(async () => {
        await named(name).send(runId, event, id === undefined ? {} : { id })
        return { sent: runId }
      }),
  })
  const cancel = command({
    input: z.strictObject({ ...Run, reason: z.string().max(500).optional() }).describe('ends a run that is under way: what was done stays'),
    scope: 'write',
    run: ({ name, runId, reason }) =>
      told(async () => {
        await named(name).cancel(runId, reason)
        return { cancelled: runId }
      }),
  })
  const pending = command({
    input: z.strictObject(Run).describe('calls of tools that wait for a person, of all agents in a run'),
    scope: 'approve',
    run: ({ name, runId }) => told(async () => ({ pending: await named(name).pending(runId) })),
  })
  const decide = command({
    input: z
      .strictObject({
        ...Run,
        callId: z.string().min(1).max(500),
        decision: z.enum(['approve', 'deny']),
        note: z.string().max(2_000).optional().describe('why: told to the model with a refusal'),
        by: z.string().max(200).optional().describe('who decided'),
        remember: z.literal(true).optional().describe('from now on that tool needs no further yes in this run of the agent'),
      })
      .describe('decides about one of them'),
    scope: 'approve',
    run: ({ name, runId, callId, decision, note, by, remember }) =>
      told(async () => {
        const said = { ...(note !== undefined && { note }), ...(by !== undefined && { by }), ...(remember && { remember }) }
        await named(name).decide(runId, { callId, decision, ...said })
        return { decided: callId }
      }),
  })
  const approve = command({
    input: z
      .strictObject({ ...Run, plan: Plan.optional().describe('default: the plan as it stands'), ...Wait })
      .describe('lets a planner follow the plan that waits'),
    scope: 'approve',
    run: ({ name, runId, plan, ...waiting }) =>
      told(async () => {
        const executable = named(name)
        if (!(executable instanceof Planner))
          throw new RuntimeError('unsupported', `'${name}' makes no plans`, { field: 'name', hint: 'calls of tools are decided with ladder.decide' })
        await executable.release(runId, plan)
        return answered(executable, runId, waiting)
      }),
  })
  return {
    'ladder.list': list,
    'ladder.execute': execute,
    'ladder.result': result,
    'ladder.resume': resume,
    'ladder.send': send,
    'ladder.cancel': cancel,
    'ladder.pending': pending,
    'ladder.decide': decide,
    'ladder.approve': approve,
  }
}

/** Plain JSON, and errors in the words of the node. */
const told = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    return JSON.parse(JSON.stringify(await work()))
  } catch (error) {
    if (!(error instanceof LadderError)) throw error
    const { code, message, hint, context } = error
    throw new RuntimeError(runtimeCodeOf(error), message, { data: { ...context, code }, hint, cause: error })
  }
}

/** Not less, however short the wait for the run is to be. */
const checkLeastMs = 1_000

/** @throws RuntimeError timeout where a check of an author's own takes longer */
const inTime = async (begin: (signal: AbortSignal) => Promise<string>, { timeoutMs = waitDefaultMs }: Waiting): Promise<string> => {
  const late = new AbortController()
  const limitMs = Math.max(timeoutMs, checkLeastMs)
  const error = new RuntimeError('timeout', `the input was not checked within ${limitMs} ms`, {
    hint: 'nothing was begun: see what the schema of the executable waits for, or give it more time with timeoutMs',
  })
  const timer = setTimeout(() => late.abort(error), limitMs)
  try {
    return await begin(late.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** The run goes on. */
const unlessLate = (error: unknown): undefined => {
  if (!isRuntimeError(error) || error.code !== 'timeout') throw error
}
