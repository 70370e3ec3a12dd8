/** What the actors of this node say and do, passed on: to transcripts, to listeners here, to the bus, to diagnostics. */

import type { HostEvents } from '../actors/index.ts'
import { quarantinedError } from '../actors/index.ts'
import { definedOf } from '../contracts/defined.ts'
import type { Environment } from '../contracts/environment.ts'
import { errorBody } from '../contracts/errors.ts'
import type { AnyEvent } from '../contracts/journal.ts'
import type { SessionOutput } from '../contracts/session.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Transcripts } from '../machines/index.ts'
import { Diagnostics } from './diagnostics.ts'
import type { EventHub } from './event-hub.ts'
import type { FileStore } from './files/index.ts'
import type { InspectionStream } from './inspection/stream.ts'
import type { publishOutputs } from './publish.ts'
import type { RunTraces } from './run-traces.ts'
import { logRun, logTurn, type Told } from './turn-log.ts'

type Parts = {
  environment: Environment
  files: FileStore
  transcripts: Transcripts
  outputs: EventHub
  inspection: InspectionStream
  publish: ReturnType<typeof publishOutputs>
  traces: RunTraces
  observe: { hear(session: string, event: SessionOutput, first: boolean): void; deleted(session: string): void }
}

export const hostEvents = ({ environment, files, transcripts, outputs, inspection, publish, traces, observe }: Parts) => {
  const { growth } = outputs
  const sayLive = (address: Address, event: AnyEvent): void => {
    const output = { path: '/', event }
    outputs.say(formatAddress(address), output)
    if (publish.wanted()) publish.say(address, output)
    if (address.kind === 'session') logTurn(environment.log, { actor: formatAddress(address) }, event as unknown as SessionOutput)
  }
  const diagnostics = new Diagnostics(environment, sayLive)
  const leave = (address: Address): void => {
    inspection.left(formatAddress(address))
    transcripts.forget(address)
    diagnostics.forget(address)
  }
  const events: Required<Pick<HostEvents, 'committed' | 'live' | 'released' | 'removing' | 'forgotten'>> = {
    committed(root, commit, emitted, redo) {
      // Listeners are told in any case; a transcript that cannot be followed is read from the journal when it is needed.
      try {
        transcripts.feed(commit)
      } catch (error) {
        transcripts.forget(root.address)
        environment.log.error({ actor: root.name, error: errorBody(error) }, 'a transcript could not be followed')
      }
      const told: Told = { actor: root.name, ...definedOf({ repeated: redo ? true : undefined }) }
      for (const [index, { path, event }] of emitted.entries()) {
        const output = { path, event, seq: commit.seq, index, at: commit.at }
        outputs.say(root.name, output)
        if (publish.wanted()) publish.say(root.address, output)
        diagnostics.hear(root.address, root.name, event, commit.at)
        if (root.address.kind !== 'session') {
          logRun(environment.log, told, event)
          continue
        }
        traces.hear(root.address.id, event)
        logTurn(environment.log, told, event as unknown as SessionOutput)
        if (!redo) observe.hear(root.address.id, event as unknown as SessionOutput, commit.seq === 1)
      }
      outputs.changed(root.address)
      // What is said again may be older than what others were told since.
      if (redo && commit.seq !== root.seq - 1) return
      if (growth.watched.size > 0) growth.grew(root.name, commit.seq)
      if (publish.wanted()) {
        publish.state(root.address, commit)
        inspection.grew(root.name, root.address, commit.seq)
      }
      if (commit.quarantine) outputs.end(quarantinedError(root.name, commit.quarantine), root.name)
    },
    // One object for all who hear it, and no copy: of deltas there are a hundred where there is one of anything else.
    live(root, path, event) {
      const output = { path, event }
      outputs.say(root.name, output)
      if (publish.wanted()) publish.say(root.address, output)
      if (event.type === 'delta') diagnostics.talking.add(root.name)
      else diagnostics.hear(root.address, root.name, event)
    },
    released: (root) => leave(root.address),
    async removing({ kind, id }) {
      if (kind === 'session') await files.forget(id)
    },
    forgotten(address) {
      leave(address)
      outputs.changed(address)
      growth.grew(formatAddress(address), 0)
      if (address.kind === 'session') observe.deleted(address.id)
    },
  }
  const stopEvents = (): void => {
    diagnostics.stop()
    inspection.stop()
  }
  return { events, diagnostics, stopEvents }
}
