/** What became of a recorded session under other machines, in words. */
import type { Compared } from '../client/index.ts'
import { print, printable, stateText } from './output.ts'

/** One line with where it first differs, and what came in there; or why nothing can be said. */
export const tellCompared = ({ session, file, verdict, difference, error, commits }: Compared): void => {
  const name = printable(file ?? session)
  if (difference) {
    print(`different   ${name}  ${differenceText(difference)}`)
    if (difference.events.length > 0) print(`            on ${printable(difference.events.join(', ')).slice(0, 300)}`)
  } else if (error) {
    print(`unreadable  ${name}  ${printable(error.message)} [${error.code}]`)
    if (error.hint) print(`            ${printable(error.hint)}`)
  } else print(`${verdict}   ${name}  ${commits} commits`)
}

export const differenceText = ({ seq, actor, what, before, recorded, now }: NonNullable<Compared['difference']>): string => {
  const at = `commit ${seq}, ${printable(actor)}`
  if (what === 'context') return `${at}: the states agree; what the machine remembers (its context), or when it wakes, does not`
  if (what === 'failure') return `${at}: fails now: ${printable(messageIn(now))}`
  const from = before === undefined ? '' : `in ${printable(stateText(before))}, `
  return `${at}: ${from}recorded ${printable(stateOr(recorded))}, now ${printable(stateOr(now))}`
}

const messageIn = (failure: unknown): string => String((failure as { message?: unknown } | null)?.message ?? failure)
const stateOr = (state: unknown): string => (state === undefined ? 'nothing' : stateText(state))
