/** Why a file cannot be had, in words that tell a model how to do better and nothing of what lies outside of the workspace. */
import { RuntimeError } from '../../contracts/errors.ts'

export const badPath = (message: string): RuntimeError =>
  new RuntimeError('bad_request', message, { field: 'path', hint: 'give a path relative to the workspace, such as notes/today.md' })

export const workspaceGone = (cause: unknown): RuntimeError =>
  new RuntimeError('not_found', 'the workspace folder does not exist', { cause, hint: 'create it, or start with another workspace' })

export const outside = (path: string): RuntimeError =>
  new RuntimeError('forbidden', `"${shown(path)}" is outside the workspace`, {
    field: 'path',
    hint: 'only files inside the workspace can be used, and links that lead to them',
  })

export const hidden = (path: string): RuntimeError =>
  new RuntimeError('forbidden', `"${shown(path)}" is hidden`, {
    field: 'path',
    hint: 'names that begin with a dot, and what belongs to the node, cannot be used',
  })

export const linked = (path: string): RuntimeError =>
  new RuntimeError('forbidden', `"${shown(path)}" is a hard link: its other name may be outside the workspace`, {
    field: 'path',
    hint: 'if it may be used, put a copy in its place (cp FILE COPY && mv COPY FILE)',
  })

export const changed = (path: string): RuntimeError =>
  new RuntimeError('conflict', `"${shown(path)}" was changed by somebody else meanwhile`, { field: 'path', retryable: true, hint: 'read it again' })

export const notFile = (path: string, isFolder: boolean): RuntimeError =>
  isFolder
    ? new RuntimeError('bad_request', `"${shown(path)}" is a folder`, { field: 'path', hint: 'use list_files to see what is in it' })
    : new RuntimeError('forbidden', `"${shown(path)}" is not a regular file`, {
        field: 'path',
        hint: 'links, devices, sockets and pipes cannot be used',
      })

export const notText = (path: string): RuntimeError =>
  new RuntimeError('bad_request', `"${shown(path)}" is not a text file in UTF-8`, { field: 'path', hint: 'only text can be read and written' })

/** What the file system answered, without the real path in it. */
export const unreachable = (path: string, cause: unknown): RuntimeError => {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : ''
  const details = { field: 'path', cause }
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new RuntimeError('not_found', `there is no "${shown(path)}" in the workspace`, {
        ...details,
        hint: 'use list_files to see what there is',
      })
    case 'ELOOP':
      return new RuntimeError('forbidden', `"${shown(path)}" is a link that leads nowhere`, { ...details, hint: 'name the file itself' })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new RuntimeError('forbidden', `"${shown(path)}" may not be used`, { ...details, hint: 'give the process the right to it' })
    default:
      return new RuntimeError('bad_request', `"${shown(path)}" cannot be used (${code || 'unknown error'})`, {
        ...details,
        hint: 'check the file and its disk',
      })
  }
}

export const shown = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path)
