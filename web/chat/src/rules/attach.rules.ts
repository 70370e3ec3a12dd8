/** Which files can be attached, said before anything is sent, and how their sizes are read. */
import { fileBytesMax, filesMax } from '../../../../src/contracts/file-limits.ts'

type Sized = { name: string; size: number }

/** @param before files that are attached already @returns those that can be, and a word about the others */
export const attachable = <One extends Sized>(files: readonly One[], before: number): { taken: One[]; refused: string[] } => {
  const taken: One[] = []
  const refused: string[] = []
  for (const file of files) {
    if (file.size === 0) refused.push(`${file.name} is empty`)
    else if (file.size > fileBytesMax) refused.push(`${file.name} is too large: ${exceeds(file.size)}; make it smaller`)
    else if (before + taken.length >= filesMax) refused.push(`${file.name} is one too many: ${filesMax} can go with a message`)
    else taken.push(file)
  }
  return { taken, refused }
}

/** Where it is only a little too large, its bytes say so. */
const exceeds = (size: number): string =>
  sizeOf(size) === sizeOf(fileBytesMax)
    ? `it has ${size} bytes, a file may have ${fileBytesMax}`
    : `it has ${sizeOf(size)}, a file may have ${sizeOf(fileBytesMax)}`

/** `812 bytes`, `12 kB`, `4.9 MB`. */
export const sizeOf = (bytes: number): string => {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${Number((bytes / 1_000_000).toFixed(1))} MB`
}
