/**
 * A filter of system calls for commands in bubblewrap: `fallocate` answers that it is not supported. It takes gigabytes of a disk within milliseconds, before
 * the node can look; programs that get this answer write zeros instead.
 */
/** Numbers of an architecture and of the older one that its kernel also runs. */
type Numbers = { arch: number; call: number; otherCall: number; olderArch: number; olderCall: number }

const numbers: Partial<Record<NodeJS.Architecture, Numbers>> = {
  // Programs of the x32 ABI set a bit in the number.
  x64: { arch: 0xc000_003e, call: 285, otherCall: 0x4000_0000 + 285, olderArch: 0x4000_0003, olderCall: 324 },
  arm64: { arch: 0xc000_00b7, call: 47, otherCall: 47, olderArch: 0x4000_0028, olderCall: 352 },
}

const load = 0x20
const jumpIfEqual = 0x15
const answer = 0x06
const allow = 0x7fff_0000
/** EOPNOTSUPP. */
const refuse = 0x0005_0000 + 95
const archOffset = 4
const callOffset = 0

/** The program as the kernel reads it; undefined for an architecture that is not known. */
export const seccompFilter = (architecture: NodeJS.Architecture): Uint8Array | undefined => {
  const known = numbers[architecture]
  if (known === undefined) return undefined
  /** Code, instructions to skip if equal and if not, and a value. */
  const program: [code: number, ifEqual: number, ifNot: number, value: number][] = [
    [load, 0, 0, archOffset],
    [jumpIfEqual, 0, 3, known.arch],
    [load, 0, 0, callOffset],
    [jumpIfEqual, 5, 0, known.call],
    [jumpIfEqual, 4, 3, known.otherCall],
    [jumpIfEqual, 0, 2, known.olderArch],
    [load, 0, 0, callOffset],
    [jumpIfEqual, 1, 0, known.olderCall],
    [answer, 0, 0, allow],
    [answer, 0, 0, refuse],
  ]
  const bytes = new DataView(new ArrayBuffer(program.length * 8))
  for (const [index, [code, ifEqual, ifNot, value]] of program.entries()) {
    bytes.setUint16(index * 8, code, true)
    bytes.setUint8(index * 8 + 2, ifEqual)
    bytes.setUint8(index * 8 + 3, ifNot)
    bytes.setUint32(index * 8 + 4, value, true)
  }
  return new Uint8Array(bytes.buffer)
}
