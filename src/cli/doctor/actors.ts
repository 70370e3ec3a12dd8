/** Who of a data folder could not be woken, and who waits for a person. */

import type { ActorPage, ActorRow } from '../../api/index.ts'
import type { Client } from '../../client/index.ts'
import { errorBody } from '../../contracts/errors.ts'
import { formatAddress } from '../../contracts/subjects.ts'
import { connect } from '../connect.ts'
import type { Globals } from '../globals.ts'
import { hintCommand, type Place } from '../hint.ts'
import { bad, type Finding, ok, warn } from './finding.ts'

/** A large folder is not read to its end: a person waits. */
const patienceMs = 5000
const pageSize = 50
const shownMax = 20

/** @param known addresses that were reported already */
export async function* actors(globals: Globals, known: ReadonlySet<string>): AsyncGenerator<Finding> {
  let client: Client
  try {
    client = await connect(globals, { look: true })
  } catch (error) {
    const { message, hint = 'mend what is named above' } = errorBody(error)
    yield warn('actors', `not looked at: ${message}`, hint)
    return
  }
  try {
    yield* look(client, known, globals)
  } catch (error) {
    const { message, hint = 'see the log of the node' } = errorBody(error)
    yield bad('actors', message, hint)
  } finally {
    await client.close()
  }
}

async function* look(client: Client, known: ReadonlySet<string>, place: Place): AsyncGenerator<Finding> {
  const until = performance.now() + patienceMs
  let count = 0
  let waiting = 0
  let troubled = 0
  let after: string | null | undefined
  while (after !== null && performance.now() < until) {
    const page: ActorPage = await client.command('actors.list', { limit: pageSize, after })
    for (const row of page.actors) {
      count++
      waiting += row.waiting
      const finding = troubleOf(row, place)
      if (!finding || known.has(formatAddress(row))) continue
      if (++troubled <= shownMax) yield finding
    }
    after = page.next
  }
  if (troubled > shownMax) yield warn('actors', `${troubled - shownMax} more are not shown`, `${hintCommand(place, 'actors')} --all lists them`)
  const all = after === null ? `${count} read` : `the first ${count} read, then it took too long`
  yield ok('actors', troubled === 0 ? `${all}; each can be woken` : `${all}; ${troubled} named above`)
  if (waiting > 0)
    yield warn(
      'approvals',
      `${waiting} tool ${waiting === 1 ? 'call waits' : 'calls wait'} for a person`,
      `${hintCommand(place, 'approvals')} lists them`,
    )
}

const troubleOf = (row: ActorRow, place: Place): Finding | undefined => {
  const name = formatAddress(row)
  if (row.error) {
    const { message, code, hint = 'restore a backup' } = row.error
    const deleting = hintCommand(place, 'delete', name)
    if (code === 'corrupt_at' || (code === 'drift' && !hint.includes('statecast delete')))
      return bad('actor', `${name} cannot be woken: ${message} [${code}]`, `${hint}; the last resort, which forgets it: ${deleting}`)
    const cure = code === 'not_found' ? `register a machine of this kind in the app (${hint}), or leave it asleep` : hint
    return bad('actor', `${name} cannot be woken: ${message} [${code}]`, cure)
  }
  if (row.quarantine)
    return warn(
      'actor',
      `${name} was quarantined: ${row.quarantine.message}`,
      `see ${hintCommand(place, 'trace', name)}, mend the cause, then ${hintCommand(place, 'revive', name)}${
        row.kind === 'session' ? '; or POST /rpc/sessions.reset begins the conversation anew' : ''
      }`,
    )
  return undefined
}
