/** The ladder as a contender, through its public interface. */
import { join } from 'node:path'
import { createRuntime } from '../../src/index.ts'
import { END, ladder, supervisor, workflow } from '../../src/ladder.ts'
import type { Open } from './contender.ts'

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
    state: {} as Record<string, string>,
    maxFanOut: fan,
    intents: Object.fromEntries(names.map((name) => [name, () => ({ [name]: `${name} has looked at it` })])),
    route: ({ iteration }) => (iteration === 0 ? names : END),
    evaluate: () => ({ satisfied: true }),
  })
  const runtime = await createRuntime({
    transport: variant === 'disk' ? `embedded:${join(folder, 'store')}` : 'memory:',
    extensions: [ladder({ executables: [...flows, desk] })],
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
    close: () => runtime.close(),
  }
}
