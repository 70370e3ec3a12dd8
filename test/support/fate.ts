/** Whether the process of a story has died, for whoever waits for an answer of it: a wait that outlived its question would let time pass for ever. */
export type Fate = ReturnType<typeof aFate>

export const aFate = () => {
  let death = Promise.withResolvers<undefined>()
  let down = false
  return {
    get down() {
      return down
    },
    /** Resolves when this life is over. */
    get death() {
      return death.promise
    },
    die() {
      down = true
      death.resolve(undefined)
    },
    revive() {
      down = false
      death = Promise.withResolvers<undefined>()
    },
  }
}
