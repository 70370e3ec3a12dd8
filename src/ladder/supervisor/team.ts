/** `team()`: a manager who says who works, members, and a gate that says when it is good enough. */
import { LadderError } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import { anything, code, either, record } from '../given.ts'
import type { Schema } from '../schema.ts'
import { written } from '../written.ts'
import { executable, supervisorKinds } from './check.ts'
import type { Choice, Code, DataOf, SupervisorContext, SupervisorDefinition } from './definition.ts'
import type { Verdict } from './supervisor.context.ts'
import { Supervisor } from './supervisor.ts'

/**
 * When it is good enough. `quality`: the member `reviewer` writes `approved` into the state; while that is not true the member `fixer` works next, told what stands
 * in `notes`, and after it the reviewer. `verify`: the member `verifier` writes `passed`; while that is not true, who chooses is told `notes`. Or code, like `evaluate`.
 */
type Gate<Input, State, Name extends string> = 'quality' | 'verify' | Code<Input, State, Verdict<Name> | undefined>

export type TeamDefinition<Input, State extends object, Name extends string, Output extends Schema | undefined> = Omit<
  SupervisorDefinition<Input, State, Name, Output>,
  'intents' | 'route' | 'router' | 'evaluate'
> & {
  /** Says who works next: code, or what `router()` returned. */
  manager: AnyExecutable | Code<Input, State, Choice<NoInfer<Name>>>
  members: SupervisorDefinition<Input, State, Name, Output>['intents']
  gate: Gate<Input, State, NoInfer<Name>>
}

const kinds = {
  ...supervisorKinds,
  manager: either(executable, code("({ state }) => 'reviewer'")),
  members: record('{ reviewer, fixer }'),
  gate: anything,
}

type Judged = { approved?: unknown; passed?: unknown; notes?: unknown }
type Judge = (context: SupervisorContext<never, never>) => Verdict | undefined

/** @throws LadderError SUPERVISOR_CONFIG, where a member is missing that the gate needs; and what `supervisor()` throws */
export const team = <
  Input = unknown,
  State extends object = Record<string, unknown>,
  const Name extends string = string,
  const Output extends Schema | undefined = undefined,
>(
  given: TeamDefinition<Input, State, Name, Output>,
): Supervisor<Input, DataOf<State, Output>> => {
  const { manager, members, gate, ...definition } = written<TeamDefinition<Input, State, Name, Output>>(given, 'team', kinds, 'SUPERVISOR_CONFIG')
  if (typeof gate !== 'function') checkRoles(definition.name, gate, members)
  const chooser = manager instanceof Executable ? { router: manager } : { route: manager }
  const evaluate = typeof gate === 'function' ? gate : gates[gate].judge
  return new Supervisor({ ...definition, ...chooser, intents: members, evaluate } as never, { type: 'team' })
}

const notesIn = ({ notes }: Judged) => (notes === undefined ? {} : { feedback: typeof notes === 'string' ? notes : JSON.stringify(notes) })

const quality: Judge = (context) => {
  const state = context.state as Judged
  const { chosen: worked } = context
  if (worked.includes('reviewer')) return state.approved === true ? { satisfied: true } : { reassignTo: 'fixer', ...notesIn(state) }
  return worked.includes('fixer') ? { reassignTo: 'reviewer' } : undefined
}

const verify: Judge = (context) => {
  const state = context.state as Judged
  if (!context.chosen.includes('verifier')) return undefined
  return state.passed === true ? { satisfied: true } : notesIn(state)
}

const gates: Readonly<Record<'quality' | 'verify', { roles: readonly string[]; judge: Judge }>> = {
  quality: { roles: ['reviewer', 'fixer'], judge: quality },
  verify: { roles: ['verifier'], judge: verify },
}

const checkRoles = (name: string, gate: 'quality' | 'verify', members: object): void => {
  if (!Object.hasOwn(gates, gate))
    throw new LadderError('SUPERVISOR_CONFIG', `gate of '${name}' is '${String(gate)}'`, { hint: "it is 'quality', 'verify', or a function" })
  const missing = gates[gate].roles.find((role) => !Object.hasOwn(members ?? {}, role))
  if (missing)
    throw new LadderError('SUPERVISOR_CONFIG', `the team '${name}' has no ${missing}, which the gate '${gate}' needs`, {
      hint: `write members: { ${missing}: … }`,
    })
}
