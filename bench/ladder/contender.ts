/** What takes part in questions about steps: a module that runs workflows and supervisors, measured in a process of its own. */

/** Messages of a session when it is summarised, and those that stay as they are. */
export const historyMax = 20
export const historyKept = 10

/** Steps that a workflow has, and how many are asked at once. */
export type Sizes = { steps: readonly number[]; fan: number; history: { max: number; kept: number } }

export type Contender = {
  /**
   * Runs a workflow of so many steps once, each of which adds 1 to a count in its state.
   * @param stepped called by each step, as the first thing that it does
   * @returns the count
   */
  steps(count: number, stepped: () => void): Promise<number>
  /** A supervisor chooses all of its specialists at once, which are functions, puts together what they say, and ends. @returns how many have said something */
  fan(): Promise<number>
  /**
   * A new session of so many turns, each one message and one answer, made by a function. What was said becomes a summary of all but its newest messages whenever
   * there are many.
   * @param said called when a turn has begun
   */
  talk(turns: number, said: () => void): Promise<void>
  close?(): Promise<void> | void
}

/** Every module of a contender exports this as `open`. @param folder for whatever it stores */
export type Open = (sizes: Sizes, options: { variant: string; folder: string }) => Promise<Contender> | Contender

const here = (file: string): string => new URL(file, import.meta.url).href

export const floor = { name: 'floor: plain code, one synced insert a step', module: here('floor.ts'), variant: 'disk' }

export const ours = {
  memory: { name: 'statecast, in memory', module: here('statecast.ts'), variant: 'memory' },
  disk: { name: 'statecast, on disk and synced', module: here('statecast.ts'), variant: 'disk' },
}
