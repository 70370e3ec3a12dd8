/** Starts the slowest files of the long tier first, so that no core waits for the other at the end. A fresh clone has no durations of earlier runs. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Those above half a minute, the slowest first. The others follow by their size. */
export const slowest: readonly string[] = [
  'web/inspector',
  'simulation/seeds',
  'mutants/mutants',
  'web/live',
  'compare',
  'reply/retold/killed',
  'package.npm',
  'web/long-conversation',
  'web/inspector-views',
  'web/page',
  'runtime/random.disk',
  'crash/kill-points',
  'bench',
  'runtime/random',
  'runtime/damage',
  'ladder/survival/processes.nats',
  'ladder/survival/killed.nats',
  'chaos/chaos',
  'ladder/survival/server-killed.nats',
  'reply/retold/answers.nats',
  'ladder/survival/sessions.nats',
]

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = slowest.findIndex((file) => moduleId.endsWith(`/test/${file}.long.test.ts`))
      return found === -1 ? slowest.length : found
    }
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other))
  }
}
