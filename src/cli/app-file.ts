/** Where the app is. To find that out loads nothing of it, nor the runtime that it is for. */
import { existsSync } from 'node:fs'
import { resolvePath } from './surroundings.ts'

const names = ['ts', 'mts', 'js', 'mjs', 'json'].map((ending) => `statecast.config.${ending}`)

/** @param given the value of the option @returns the path of the app file; undefined without the option and without a file in the working directory */
export const appFile = (given: string | undefined): string | undefined => {
  const name = given ?? names.find((one) => existsSync(resolvePath(one)))
  return name === undefined ? undefined : resolvePath(name)
}
