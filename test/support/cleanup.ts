/**
 * What helpers open in a test, closed behind it. A hook at the top of a helper would not do: files share a process, in which a helper is loaded once, so
 * only the first file would have it.
 */
type Undo = () => unknown

const inTest: Undo[] = []
const inFile: Undo[] = []

/** Runs after the current test and its own `afterEach`, the newest first. */
export const afterThisTest = (undo: Undo): void => void inTest.push(undo)

/** Runs after the last test of the current file, the newest first. */
export const afterThisFile = (undo: Undo): void => void inFile.push(undo)

/** Runs all of them, even when one throws, and reports what was thrown. */
const runAll = async (undos: Undo[]): Promise<void> => {
  const errors: unknown[] = []
  for (const undo of undos.splice(0).reverse())
    try {
      await undo()
    } catch (error) {
      errors.push(error)
    }
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, 'several clean-ups failed')
}

/** For test/setup.ts, which each file runs. */
export const cleanUpTest = (): Promise<void> => runAll(inTest)
export const cleanUpFile = (): Promise<void> => runAll(inFile)
