/** `statecast revive`: takes an actor into service again that was set aside. */
import { formatAddress } from '../contracts/subjects.ts'
import { withAddress } from './address.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, print, printJson } from './output.ts'

/** What it goes on with shall not be left in the middle by a process that is about to end. */
const patienceMs = 30_000

export const revive = async (options: Globals, key: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const { actor, revived } = await withAddress(key, async (address) => ({
      actor: formatAddress(address),
      ...(await client.command<{ revived: boolean }>('actors.revive', address)),
    }))
    if (options.json) printJson({ actor, revived })
    else print(revived ? `${actor} is in service again` : `${actor} was not quarantined: nothing to do`)
    if (client.settled && !(await client.settled(patienceMs))) note('it resumes when a node next runs (statecast up)')
    return exitCodes.fine
  } finally {
    await client.close()
  }
}
