/** Which calls of an agent a person has to agree to, beside those of tools that say so themselves. */
import type { AgentDefinition as CoreDefinition } from '../../index.ts'
import { LadderError } from '../errors.ts'
import { isRecord, shown } from '../given.ts'

type Timing = NonNullable<CoreDefinition['approval']>
type Hook = Exclude<NonNullable<CoreDefinition['beforeTool']>[number], (...given: never[]) => unknown>

/** A call that is about to run; `callId` is the same whenever it is looked at again. */
export type JudgedCall = { readonly name: string; readonly input: unknown; readonly callId: string }

/**
 * `allow`: all tools but these. `deny`: these. A function: where it says true; it is asked again after a crash, and a call of which it says nothing because it
 * threw does not run. `timeoutMs` and `onTimeout` say how long a person is waited for, as in any agent.
 */
export type ApprovalPolicy =
  | ((call: JudgedCall) => boolean | Promise<boolean>)
  | (Timing & { allow?: readonly string[]; deny?: never })
  | (Timing & { deny?: readonly string[]; allow?: never })

type Applied = Pick<CoreDefinition, 'approval' | 'beforeTool'>

/** After all others, which may still change a call. */
const last = -1_000_000

/** @throws LadderError LADDER_CONFIG */
export const withApproval = (agent: string | undefined, policy: ApprovalPolicy | undefined, beforeTool: CoreDefinition['beforeTool']): Applied => {
  if (policy === undefined) return beforeTool === undefined ? {} : { beforeTool }
  if (typeof policy !== 'function' && !isRecord(policy))
    throw wrong(agent, `approval is ${shown(policy)}`, "write approval: { allow: ['search'] }, { deny: ['pay'] }, or (call) => true")
  const { allow, deny, ...timing } = (typeof policy === 'function' ? {} : policy) as Timing & { allow?: unknown; deny?: unknown }
  for (const [option, names] of Object.entries({ allow, deny }))
    if (names !== undefined && !(Array.isArray(names) && names.every((name) => typeof name === 'string')))
      throw wrong(agent, `approval.${option} is no list of names`, `write approval: { ${option}: ['search'] }`)
  if (allow !== undefined && deny !== undefined) throw wrong(agent, 'approval has allow and deny', 'leave one of them out')
  const asks = askedBy(policy, allow as readonly string[] | undefined, deny as readonly string[] | undefined)
  return {
    ...(Object.keys(timing).length > 0 && { approval: timing }),
    ...((asks || beforeTool) && {
      beforeTool: [
        ...(beforeTool ?? []),
        ...(asks
          ? [{ name: 'approval', priority: last, check: async (call) => ((await asks(call)) ? { approval: true } : undefined) } satisfies Hook]
          : []),
      ],
    }),
  }
}

const askedBy = (policy: ApprovalPolicy, allow: readonly string[] | undefined, deny: readonly string[] | undefined) => {
  if (typeof policy === 'function') return policy
  if (allow) return ({ name }: JudgedCall) => !allow.includes(name)
  return deny && (({ name }: JudgedCall) => deny.includes(name))
}

const wrong = (agent: string | undefined, message: string, hint: string): LadderError =>
  new LadderError('LADDER_CONFIG', `${agent === undefined ? 'an agent' : `'${agent}'`}: ${message}`, { hint })
