/** The machines that this page has with it: what they wrote is folded here, without asking anybody. */
import type { AnyStateMachine } from 'xstate'
import { type Chart, chartsBelow, type Registration, registerMachine } from '../../../../src/actors/index.ts'
import { deliveryMachine } from '../../../../src/chat/delivery/delivery.machine.ts'
import { chatPublisher } from '../../../../src/chat/delivery/render.rules.ts'
import { deskMachine } from '../../../../src/chat/desk/desk.machine.ts'
import { heartbeatMachine } from '../../../../src/chat/heartbeat/heartbeat.machine.ts'
import { configMachine } from '../../../../src/machines/config/config.machine.ts'
import { providerMachine } from '../../../../src/machines/provider/provider.machine.ts'
import { sessionMachine, withDesk } from '../../../../src/machines/session/session.machine.ts'
import { turnWith } from '../../../../src/machines/turn/turn.machine.ts'

/** A conversation with people on channels, and one without. */
const machines: [kind: string, machine: AnyStateMachine][] = [
  ['session', withDesk(sessionMachine.provide({ actors: { turn: turnWith(chatPublisher(deliveryMachine)) } }), { logic: deskMachine })],
  ['session', sessionMachine],
  ['heartbeat', heartbeatMachine],
  ['config', configMachine],
  ['provider', providerMachine],
]

const registrations = new Map<string, Registration>()

/** The one that wrote a journal with this signature, if it came with the page. */
export const bundledFor = (kind: string, signature: string): Registration | undefined => {
  if (registrations.size === 0)
    for (const [name, machine] of machines) {
      const registration = registerMachine(name, machine)
      registrations.set(`${name} ${registration.signature}`, registration)
    }
  return registrations.get(`${kind} ${signature}`)
}

/** All charts that came with the page, by signature. */
export const bundledCharts = (): Record<string, Chart> =>
  Object.assign({}, ...machines.map(([, machine]) => chartsBelow(machine))) as Record<string, Chart>
