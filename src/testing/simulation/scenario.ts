/** What an author gives to the simulator, what he gets to work with, and what he is told. */
import type { Address } from '../../contracts/subjects.ts'
import type { Transport } from '../../contracts/transport.ts'
import type { Runtime, RuntimeOptions } from '../../runtime.ts'
import type { seededRandom } from '../seeded.ts'
import type { VirtualClock } from '../virtual-clock.ts'
import type { Node } from './node.ts'
import type { Plan } from './plan.ts'

export type Scenario<Act> = {
  /** What the outside world does, in order. */
  acts: (random: ReturnType<typeof seededRandom>) => Act[]
  /** The world of one simulation: what runs on each node, and what clients do to it. */
  begin(simulation: Simulation): Play<Act>
  faultMax?: number
}

export type Play<Act> = {
  /** For every life of every node. */
  runtime(node: Node): Omit<RuntimeOptions, 'transport' | 'environment'>
  /** What one act sets going. It may take as long as it likes, and the next act does not wait for it; but it has to end. */
  perform(act: Act): Promise<void>
  /** Called again and again when all faults are over, until nothing is left to be done. @returns what is, in words; undefined when nothing is */
  settle(): Promise<string | undefined>
  /** What is wrong with what is left behind; empty is the proof. */
  check(): Promise<string[]> | string[]
}

export type Simulation = {
  readonly seed: number
  readonly clock: VirtualClock
  /** Store, bus and inbox behind all faults, for the checker, or where there is no node to ask. */
  readonly transport: Transport
  /** Chance for the script of this world; none of the faults' chance. */
  readonly random: ReturnType<typeof seededRandom>
  /** A node that is up and runs, chosen by chance; undefined while there is none. */
  someone(): Runtime | undefined
  /**
   * Asks as a client that does not give up: any node that is up, and again when there is no answer, since the node may have died, or an error that may pass.
   * @param again whether an error is worth another try; default: those of ours that say so, and all that are not ours @throws the error that is not
   */
  insist<T>(request: (runtime: Runtime) => Promise<T>, again?: (error: unknown) => boolean): Promise<T>
  /** Resolves after virtual time. */
  sleep(ms: number): Promise<void>
  /** By how much the clocks of nodes may be wrong, all jumps together. */
  readonly skewMs: number
  /** A line of the story. */
  tell(line: string): void
  /** A number that grows with everything that happens. */
  order(): number
  /** The number at which a frame came to stand in the store. */
  orderOf(address: Address, seq: number): number | undefined
}

export type Outcome<Act> = {
  plan: Plan<Act>
  violations: string[]
  /** What happened, a line each, with the virtual time in ms. */
  story: string[]
  /** Steps at which something could have struck. */
  steps: number
  /** Faults that did strike. */
  struck: number
}
