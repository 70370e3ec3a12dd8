/**
 * Puts characters together that a stream has torn apart: half of one is kept until the other half comes. What stays half is replaced, as it is in the
 * journal, so that a text that was streamed is the beginning of the one that is stored.
 */
export const wholeCharacters = (): ((text: string) => string) => {
  let half = ''
  return (text) => {
    const all = half + text
    half = /[\uD800-\uDBFF]$/.exec(all.slice(-1))?.[0] ?? ''
    return all.slice(0, all.length - half.length).toWellFormed()
  }
}
