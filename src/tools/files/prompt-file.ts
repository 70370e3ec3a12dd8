/** Files of the workspace that stand in a prompt. */
import { withoutMark } from '../../contracts/byte-order-mark.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import type { PromptFile } from '../../contracts/prompt.ts'
import { openInside } from './workspace.ts'

/** More than the prompt takes of a file in any script, and little enough to be read with each call. */
const bytesMax = 128 * 1024

/** One that is not there, or lies outside, has no text. @param path relative to the workspace */
export const promptFile = async (workspace: string, path: string): Promise<PromptFile> => {
  try {
    const { handle, found } = await openInside({ folder: workspace, closed: [] }, path)
    try {
      const buffer = Buffer.alloc(Math.min(found.size, bytesMax))
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
      const text = withoutMark(buffer.toString('utf8', 0, bytesRead)).replaceAll('\0', '')
      return { path, text, chars: found.size > bytesRead ? found.size : text.length }
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (isRuntimeError(error)) return { path, chars: 0 }
    throw error
  }
}
