/** What became of a recorded session under other machines, in words. */
import { type Compared, differenceText } from '../client/index.ts'
import { print, printable } from './output.ts'

/** One line with where it first differs, and what came in there; or why nothing can be said. */
export const tellCompared = ({ session, file, verdict, difference, error, commits }: Compared): void => {
  const name = printable(file ?? session)
  if (difference) {
    print(`different   ${name}  ${printable(differenceText(difference))}`)
    if (difference.events.length > 0) print(`            on ${printable(difference.events.join(', ')).slice(0, 300)}`)
  } else if (error) {
    print(`unreadable  ${name}  ${printable(error.message)} [${error.code}]`)
    if (error.hint) print(`            ${printable(error.hint)}`)
  } else print(`${verdict}   ${name}  ${commits} commits`)
}
