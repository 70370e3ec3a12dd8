/** Prints by how many bytes the heap has grown over some seeds. Started with `--expose-gc`. */
import { simulate } from '../../src/testing/index.ts'
import { shop } from './shop.ts'

const kept = async (from: number, to: number): Promise<number> => {
  for (let seed = from; seed < to; seed++) await simulate(shop, seed)
  await new Promise((resolve) => setTimeout(resolve, 50))
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const early = await kept(1, 20)
console.log((await kept(20, 80)) - early)
