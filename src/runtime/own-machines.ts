/** The machines that an author brings, made durable. */
import { registerMachine } from '../actors/registration.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { RuntimeOptions } from '../runtime.ts'
import { providerKind } from './cooldowns.ts'
import { heartbeatKind } from './heartbeat.ts'

/** @throws RuntimeError conflict, not_durable */
export const ownMachines = ({ machines = {}, onDrift }: Pick<RuntimeOptions, 'machines' | 'onDrift'>) =>
  Object.entries(machines).map(([kind, entry]) => {
    if (kind === 'session' || kind === providerKind || kind === heartbeatKind)
      throw new RuntimeError('conflict', `the kind '${kind}' is taken`, { field: 'machines', hint: 'choose another name for your machine' })
    const { machine, ...rest } = 'machine' in entry ? entry : { machine: entry }
    return registerMachine(kind, machine, { ...(onDrift ? { onDrift } : {}), ...rest })
  })
