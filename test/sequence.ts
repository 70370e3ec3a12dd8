/** Starts the slowest files of the long tier first, so that no core waits for the other at the end. A fresh clone has no durations of earlier runs. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Above a minute, the slowest first. */
const slowest: readonly string[] = []

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = slowest.findIndex((file) => moduleId.endsWith(`/test/${file}.long.test.ts`))
      return found === -1 ? slowest.length : found
    }
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other))
  }
}
