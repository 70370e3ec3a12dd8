/** What a person can do about an error of the file system. */

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'make it readable and writable for the user who runs this, or give another folder: embedded:<folder>',
  EPERM: 'make it readable and writable for the user who runs this, or give another folder: embedded:<folder>',
  EROFS: 'its disk is mounted read-only: mount it for writing, or give another folder: embedded:<folder>',
  ENOTDIR: 'there is a file where a folder is needed: give another folder, or move the file away',
  EISDIR: 'there is a folder where a file is needed: move it away',
  EEXIST: 'a symbolic link stands there that leads nowhere or in a circle: remove it, or give another folder',
  ELOOP: 'symbolic links lead in a circle: remove one, or give another folder',
  ENAMETOOLONG: 'give a folder with a shorter path',
  EMFILE: 'too many files are open: raise the limit (ulimit -n) and start again',
  ENFILE: 'too many files are open on this machine: close some programs',
  ENOSPC: 'free some space',
  EDQUOT: 'free some space',
}

export const whatToDo = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return remedies[code] ?? 'look at the path, the disk and the permissions'
}
