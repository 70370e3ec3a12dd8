/** One question in a process of its own, so that none runs on the heap and the compiled code of another. Started by `bench/run.ts`. */
import { serve } from './child.ts'
import type { Table } from './measure.ts'

type Module = { run(options: { withPeers: boolean }): Promise<Table[]> }

serve(async ({ name, withPeers }: { name: string; withPeers: boolean }) => {
  const { run } = (await import(`./${name}.bench.ts`)) as Module
  return run({ withPeers })
})
