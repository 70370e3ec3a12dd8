/** The desk that chat puts in front of sessions. */

import type { Desk } from '../../machines/index.ts'
import type { deliveryActor } from '../delivery/delivery.effects.ts'
import { Annotations } from './annotations.rules.ts'
import { deskMachine } from './desk.machine.ts'

/** @param delivery brings what the desk says to channels */
export const chatDesk = (delivery: ReturnType<typeof deliveryActor>): Desk => ({
  logic: deskMachine.provide({ actors: { delivery } }),
  annotations: Annotations,
})
