/** Recorded traces as test cases: what has happened once has to happen the same way again. */
import type { Registration } from '../actors/index.ts'
import { type Compared, compareTrace, differenceText, type Recorded, recordedIn } from '../client/index.ts'
import { createRuntime, type RuntimeOptions } from '../runtime.ts'

/** `test` or `it` of Vitest, of `node:test`, or of whatever takes a name and a function. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown

export type TraceTestOptions = {
  /** False: states alone count, not what machines remember. Default true. */
  compareContext?: boolean
}

/**
 * One case for an exported trace, or for each one of a folder: folded by the machines of the app, it must arrive at every state that was recorded. No effect
 * runs, no model is asked, and nothing is written.
 *
 *     testTraces(test, 'traces', app) // `test` of vitest; `app` is what statecast.config.ts exports
 *
 * @param path from the working directory; `new URL('traces', import.meta.url).pathname` from the file of the test
 * @throws RuntimeError bad_request where there is no trace: a test of nothing would always pass
 */
export const testTraces = (test: TestFunction, path: string, app: RuntimeOptions, { compareContext = true }: TraceTestOptions = {}): void => {
  let machines: Promise<(kind: string) => Registration> | undefined
  for (const recorded of recordedIn(path))
    test(`${recorded.name} leads to the states that were recorded`, async () => {
      machines ??= machinesOf(app)
      const compared = await folded(recorded, await machines, compareContext)
      if (compared.verdict !== 'identical') throw new Error(whyNot(compared), { cause: compared })
    })
}

const machinesOf = async ({ environment: _, transport: __, ...app }: RuntimeOptions): Promise<(kind: string) => Registration> => {
  const runtime = await createRuntime({ ...app, transport: 'memory:', resume: false })
  await runtime.close()
  // What it has registered stays what it is.
  return (kind) => runtime.registration(kind)
}

const folded = async ({ open }: Recorded, machines: (kind: string) => Registration, compareContext: boolean): Promise<Compared> => {
  const { address, journal } = open()
  return compareTrace(journal, address, machines(address.kind), { compareContext })
}

const whyNot = ({ session, difference, error }: Compared): string =>
  difference
    ? `${session}: ${differenceText(difference)}\non ${difference.events.join(', ')}`
    : `${session} cannot be read: ${error?.message}${error?.hint ? `\n${error.hint}` : ''}`
