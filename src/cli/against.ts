/** `statecast replay --against`: the recorded inputs, given to the machines of another app module. Nothing is written and no effect runs. */

import { type Registration, type Replayed, recordedSignature, replay } from '../actors/index.ts'
import type { Client } from '../client/index.ts'
import { eventsAt, journalOf } from '../client/index.ts'
import { definedOf } from '../contracts/defined.ts'

import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { Address } from '../contracts/subjects.ts'
import { createRuntime, type Runtime, type RuntimeOptions } from '../runtime.ts'
import { loadApp } from './load-app.ts'
import { printable } from './output.ts'
import { commandEnvironment } from './runtime-environment.ts'

export type ReplayedAgainst = Replayed & {
  signature: { recorded: string; present: string }
  /** What came in with the commit that first went another way. */
  events?: string[]
}

/** The machines of an app module. @param kind @throws RuntimeError bad_request where it has none of that kind */
export type MachinesOf = (kind: string) => Registration

/** @param file of the option `by`; none: the app of the working directory @throws RuntimeError bad_request, not_durable */
export const withMachinesOf = async <Result>(
  file: string | undefined,
  use: (machines: MachinesOf, app: RuntimeOptions) => Promise<Result>,
  by: 'app' | 'against' = 'app',
): Promise<Result> => {
  const { environment: _, transport: __, ...app } = await loadApp(file, by)
  const runtime = await createRuntime({ ...app, environment: commandEnvironment(), transport: 'memory:', resume: false })
  try {
    return await use((kind) => registrationOf(runtime, kind, file), app)
  } finally {
    await runtime.close()
  }
}

/** @throws RuntimeError not_found (the module has no such machine, or there is no such actor), bad_request, not_durable, corrupt_at */
export const replayAgainst = (client: Client, address: Address, file: string, to: number | undefined): Promise<ReplayedAgainst> => {
  const journal = journalOf(client, address)
  return withMachinesOf(
    file,
    async (machines) => {
      const registration = machines(address.kind)
      const replayed = await replay(journal, address, { ...registration, onDrift: 'force' }, to === undefined ? {} : { to })
      const recorded = (await recordedSignature(journal, address, to)) ?? ''
      const events = replayed.difference && (await eventsAt(journal, address, replayed.difference.seq)).map((event) => printable(event))
      return { ...replayed, signature: { recorded, present: registration.signature }, ...definedOf({ events }) }
    },
    'against',
  )
}

const registrationOf = (runtime: Runtime, kind: string, file = 'this app'): Registration => {
  try {
    return runtime.registration(kind)
  } catch (cause) {
    if (!isRuntimeError(cause)) throw cause
    throw new RuntimeError('bad_request', `${file} has no machine '${kind}'`, { field: 'against', hint: cause.hint ?? '', cause })
  }
}
