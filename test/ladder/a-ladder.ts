/** A runtime with executables, on virtual time. */
import { type LadderOptions, ladder, type Streamed } from '../../src/ladder/index.ts'
import { type ScriptedSource, type TestRuntime, testRuntime } from '../../src/testing/index.ts'

export const aLadder = (...executables: Registered[]) => testRuntime({ extensions: [ladder({ executables })] })

/** The same with models by their references. */
export const aLadderOf = (models: Record<string, ScriptedSource>, ...executables: Registered[]) =>
  testRuntime({ extensions: [ladder({ executables })], models })

type Registered = LadderOptions['executables'][number]

/** Resolves when a run has come to a step of this name, its own or one of a run inside. */
export const comesTo = <Result>(run: Streamed<Result>, wanted: string): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  run.on({ 'workflow.step.starting': ({ step }) => step === wanted && resolve() })
  return promise
}

/** A report, or a result, apart from when it was. */
export const timeless = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(/"(?:startedAt|endedAt|duration)":\d+/g, '"t":0'))

/** Dies when so many commits have been sent, is started again, and asked the same. @returns undefined where there are no so many */
export const killedAt = async <Result>(kit: TestRuntime, execute: () => Promise<Result>, commit: number): Promise<Result | undefined> => {
  const died = Promise.withResolvers<'died'>()
  const hang = new Promise<void>(() => undefined)
  kit.failPoints.call('K02', () => (died.resolve('died'), hang), commit)
  const first = execute()
  first.catch(() => undefined)
  if ((await kit.clock.until(Promise.race([died.promise, first]))) !== 'died') return undefined
  await kit.crash()
  await kit.restart()
  return kit.clock.until(execute())
}
