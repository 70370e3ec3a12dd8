/** `statecast replay`: whether the machines, given the recorded inputs, arrive at the recorded states. */

import type { Replayed } from '../actors/index.ts'
import { withAddress } from './address.ts'
import type { ReplayedAgainst } from './against.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, print, printable, printJson, stateText } from './output.ts'

type ReplayOptions = Globals & { to?: number; against?: string }

export const replay = async (options: ReplayOptions, key: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const { to, against } = options
    const replayed: Replayed | ReplayedAgainst = await withAddress(key, async (address) => {
      if (against === undefined) return client.command<Replayed>('trace.replay', { ...address, to })
      return (await import('./against.ts')).replayAgainst(client, address, against, to)
    })
    if (options.json) printJson(replayed)
    else printVerdict(replayed)
    return replayed.verdict === 'identical' ? exitCodes.fine : exitCodes.failed
  } finally {
    await client.close()
  }
}

const printVerdict = (replayed: Replayed | ReplayedAgainst): void => {
  const { verdict, commits, inputs, states, difference } = replayed
  print(verdict)
  print(`${commits} commits, ${inputs} inputs`)
  if ('signature' in replayed) {
    const { recorded, present } = replayed.signature
    print(recorded === present ? `the same structure (${present})` : `another structure: recorded by ${recorded}, this one is ${present}`)
  }
  for (const [path, state] of Object.entries(states)) print(`${printable(path)}: ${printable(stateText(state))}`)
  if (!difference) return
  print(`first difference: commit ${difference.seq}${difference.path === undefined ? '' : `, ${printable(difference.path)}`}`)
  if ('events' in replayed && replayed.events) print(`  on:       ${replayed.events.join(', ')}`)
  print(`  recorded: ${shown(difference.recorded)}`)
  print(`  replayed: ${shown(difference.replayed)}`)
  if (difference.path === undefined && typeof difference.recorded === 'string')
    print('  the states agree; what the machine remembers (its context), or when it wakes, does not')
}

const shown = (value: unknown): string => printable(JSON.stringify(value) ?? 'nothing')
