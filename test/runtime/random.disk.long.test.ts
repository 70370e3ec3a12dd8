/** Anything in any order, on a folder on disk, for longer and under another seed, or the one in `SEED`. */
import { test } from 'vitest'
import { anyOrderOnDisk } from './random.disk.ts'

const seed = Number(process.env.SEED ?? 20_261_122)

test(
  `on disk, whatever comes between the steps: nothing accepted is lost or done twice, every call paired, replay identical [INV-1, INV-2, INV-5, INV-7, INV-13] (seed ${seed})`,
  { timeout: 1_200_000 },
  () => anyOrderOnDisk(60, seed),
)
