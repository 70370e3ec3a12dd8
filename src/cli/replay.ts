/** `statecast replay`: whether the machines, given the recorded inputs, arrive at the recorded states. */
import type { Replayed } from '../actors/replay.ts'
import { withAddress } from './address.ts'
import { connect, type Globals } from './connect.ts'
import { exitCodes, print, printable, printJson, stateText } from './output.ts'

export const replay = async (options: Globals & { to?: number }, key: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const replayed = await withAddress(key, ({ kind, id }) =>
      client.command<Replayed>('trace.replay', { kind, id, ...(options.to === undefined ? {} : { to: options.to }) }),
    )
    if (options.json) printJson(replayed)
    else printVerdict(replayed)
    return replayed.verdict === 'identical' ? exitCodes.fine : exitCodes.failed
  } finally {
    await client.close()
  }
}

const printVerdict = ({ verdict, commits, inputs, states, difference }: Replayed): void => {
  print(verdict)
  print(`${commits} commits, ${inputs} inputs`)
  for (const [path, state] of Object.entries(states)) print(`${printable(path)}: ${printable(stateText(state))}`)
  if (!difference) return
  print(`first difference: commit ${difference.seq}${difference.path === undefined ? '' : `, ${printable(difference.path)}`}`)
  print(`  recorded: ${printable(JSON.stringify(difference.recorded) ?? 'nothing')}`)
  print(`  replayed: ${printable(JSON.stringify(difference.replayed) ?? 'nothing')}`)
}
