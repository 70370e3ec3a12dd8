/** What was executed meanwhile, counted by V8: every function, how often, and in which file. */
import { readFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector'
import { fileURLToPath } from 'node:url'

export type Entered = {
  /** Of ours. */
  files: number
  functions: number
  /** XState's, and those of a step by table, by what a chart costs. */
  snapshots: number
  actors: number
  actions: number
  guards: number
}

const source = new URL('../../src/', import.meta.url).href
const charts = /\/node_modules\/xstate\/dist\/raise-[^/]*\.js$/
/** The step by table takes over from there (decision 0010). */
const step = new URL('actors/replica/step-draft.ts', source).href

/** Made before anything else is loaded: of what is compiled by then, V8 counts calls and no loops. */
export class Counter {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#ask('Profiler.enable')
    this.#ask('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** @returns what was entered since the last call */
  take(): Entered {
    const { result } = this.#ask('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType
    const ours = result.filter(({ url }) => url.startsWith(source)).map(({ functions }) => functions.filter(wasEntered))
    const xstate = result.find(({ url }) => charts.test(url))
    const table = result.find(({ url }) => url === step)
    return {
      files: ours.filter((functions) => functions.length > 0).length,
      functions: ours.flat().length,
      snapshots: callsOf(xstate, 'createMachineSnapshot') + callsOf(table, 'snapshotOf'),
      actors: callsOf(xstate, 'createActor'),
      actions:
        loopsIn(xstate, 'resolveAndExecuteActionsWithContext', '{\n    const isInline') + loopsIn(table, '#execute', '{\n      const implementation'),
      guards: callsOf(xstate, 'evaluateGuard'),
    }
  }

  /** In its own thread a session answers before `post` returns. */
  #ask(method: string, params?: object): unknown {
    let answer: unknown
    this.#session.post(method, params, (error, result) => {
      if (error) throw error
      answer = result
    })
    return answer
  }
}

/** The first range of a function is the whole of it; what begins with the file is the file itself. */
const wasEntered = ({ ranges: [whole] }: Profiler.FunctionCoverage): boolean => whole !== undefined && whole.count > 0 && whole.startOffset > 0

const rangesOf = ({ functions }: Profiler.ScriptCoverage, name: string): Profiler.CoverageRange[] =>
  functions.find(({ functionName }) => functionName === name)?.ranges ?? []

const callsOf = (script: Profiler.ScriptCoverage | undefined, name: string): number => (script && rangesOf(script, name)[0]?.count) ?? 0

const texts = new Map<string, string>()

/** No function is called for each action: it is a round of a loop. @param body how that begins */
const loopsIn = (script: Profiler.ScriptCoverage | undefined, name: string, body: string): number => {
  if (!script) return 0
  const text = texts.get(script.url) ?? readFileSync(fileURLToPath(script.url), 'utf8')
  texts.set(script.url, text)
  const ranges = rangesOf(script, name)
  const found = ranges.find(({ startOffset }) => text.startsWith(body, startOffset))
  if (!found && (ranges[0]?.count ?? 0) > 0) throw new TypeError(`the loop over the actions of a transition is not where it was in ${script.url}`)
  return found?.count ?? 0
}
