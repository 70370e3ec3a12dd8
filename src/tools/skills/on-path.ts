/** Whether a program is there, without running it. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

type Variables = Readonly<Record<string, string | undefined>>

export const isOnPath = (name: string, env: Variables): boolean => {
  if (!/^[\w.+-]+$/.test(name)) return false
  const endings = process.platform === 'win32' ? ['', ...(env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';')] : ['']
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.some((folder) => endings.some((ending) => isProgram(join(folder, name + ending))))
}

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
