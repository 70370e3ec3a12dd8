/** Arguments of the long scripts. */

/** Ends the process with a word about it when it is none. */
export const wholeNumber = (name: string, text: string, least = 1): number => {
  const value = Number(text)
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= least) return value
  console.error(`--${name} is a whole number from ${least}, not '${text}'`)
  process.exit(2)
}
