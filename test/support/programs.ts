/** Programs that tests use and `npm ci` does not bring. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { TestRunner } from 'vitest'

/** @returns the path of a program on this machine; undefined where there is none */
export const programPath = (name: string, searchPath = process.env.PATH ?? ''): string | undefined =>
  searchPath
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })

/** Skips the current test where a program is missing; the run prints which, and what to install. In CI, which installs them, it fails. */
export const needsProgram = (name: string, install = name, isCi = Boolean(process.env.CI)): void => {
  if (programPath(name) !== undefined) return
  const why = `there is no ${name} on this machine: install ${install}`
  const test = TestRunner.getCurrentTest<import('vitest').TestContext['task'] | undefined>()
  if (test === undefined || isCi) throw new Error(why)
  test.context.skip(why)
}
