/** The ladder as a contender, through its public interface. */
import { join } from 'node:path'
import { createRuntime } from '../../src/index.ts'
import { END, type HistoryMessage, ladder, orchestrator, supervisor, workflow } from '../../src/ladder.ts'
import { historyKept, historyMax, type Open } from './contender.ts'

export const open: Open = async ({ steps: sizes, fan }, { variant, folder }) => {
  let heard: () => void = () => undefined
  const flows = sizes.map((count) =>
    workflow({
      name: `steps-${count}`,
      state: { count: 0 },
      maxSteps: count,
      steps: Array.from({ length: count }, (_, step) => ({
        name: `step-${step}`,
        run: ({ state }: { state: { count: number } }) => {
          heard()
          state.count++
          return `step ${step} is done`
        },
      })),
      output: ({ state }) => state.count,
    }),
  )
  const names = Array.from({ length: fan }, (_, index) => `specialist-${index}`)
  const desk = supervisor({
    name: 'desk',
    state: {},
    maxFanOut: fan,
    intents: Object.fromEntries(names.map((name) => [name, () => ({ [name]: `${name} has looked at it` })])),
    route: ({ iteration }) => (iteration === 0 ? names : END),
    evaluate: () => ({ satisfied: true }),
  })
  const chat = orchestrator({
    name: 'chat',
    state: { answers: 0 },
    intents: { answer: ({ state }) => ({ answers: state.answers + 1 }) },
    route: () => 'answer',
    summarize: { keep: historyKept },
  })
  const runtime = await createRuntime({
    transport: variant === 'disk' ? `embedded:${join(folder, 'store')}` : 'memory:',
    extensions: [ladder({ executables: [...flows, desk, chat] })],
  })
  let runs = 0
  return {
    async steps(count, stepped) {
      heard = stepped
      const { data, error } = await (flows[sizes.indexOf(count)] as (typeof flows)[number]).execute(undefined, { runId: `run-${runs++}` })
      if (error) throw error
      return data as number
    },
    async fan() {
      const { data, error } = await desk.execute(undefined, { runId: `run-${runs++}` })
      if (error) throw error
      return Object.keys(data ?? {}).length
    },
    async talk(turns, said) {
      const sessionId = `session-${runs++}`
      let history: HistoryMessage[] = []
      for (let turn = 0; turn < turns; turn++) {
        said()
        const { data, error } = await chat.execute(`message ${turn}`, { sessionId, history })
        if (error) throw error
        history.push({ role: 'user', content: `message ${turn}` }, { role: 'assistant', content: `answer ${data?.answers}` })
        if (history.length <= historyMax) continue
        const compaction = await chat.command('compact', { sessionId, history })
        if (compaction) history = [compaction.summary, ...history.slice(compaction.replacesToIndex + 1)]
      }
    },
    close: () => runtime.close(),
  }
}
