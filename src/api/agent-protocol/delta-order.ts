/** Which deltas of a turn can be put behind each other: those of one model call without a gap, and none twice. */

/** @property count of deltas that were put together */
export type NumberedDelta = { attempt: number; index: number; count?: number }

export const deltaOrder = () => {
  let attempt: number | undefined
  let next = 0
  return {
    /** @returns whether it is the first one heard of its model call, and whether it follows what was taken before */
    take({ attempt: of, index, count = 1 }: NumberedDelta): { begins: boolean; follows: boolean } {
      const begins = of !== attempt
      if (begins) {
        attempt = of
        next = 0
      }
      const follows = index === next
      if (follows) next += count
      return { begins, follows }
    },
  }
}
