/** The tier of a test file, and the command that repeats the file. */
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** @param place a path, or `import.meta.url` @returns the path from the root of the repository */
export const fileAt = (place: string): string => (place.startsWith('file:') ? fileURLToPath(place) : place).replace(root, '')

/** Whether only `npm run test:long` runs it. */
export const isLong = (file: string): boolean => file.endsWith('.long.test.ts')

/** @param file from the root of the repository @param variables of the environment */
export const repeatCommand = (file: string, variables: Record<string, string | number>): string =>
  [...Object.entries(variables).map(([name, value]) => `${name}=${value}`), `npx vitest run ${file}`].join(' ')

declare module 'vitest' {
  /** What vitest.config.ts gives to every test. */
  interface ProvidedContext {
    /** `STATECAST_SWEEP`, see share.ts; empty: not set. */
    sweep: string
    /** `STATECAST_SEED`, see seeds.ts; empty: not set. */
    seed: string
    /** The id of the commit that is tested; empty outside of a Git checkout. */
    commit: string
  }
}
