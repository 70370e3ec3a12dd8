/** The list that the docs, the command line and the inspector draw. */
import type { AnyStateMachine } from 'xstate'
import { heartbeatMachine } from './heartbeat.machine.ts'
import { loopMachine } from './loop.machine.ts'
import { nodeMachine } from './node.machine.ts'
import { partitionMachine } from './partition.machine.ts'
import { peerMachine } from './peer.machine.ts'
import { promptMachine } from './prompt.machine.ts'
import { providerMachine } from './provider.machine.ts'
import { sessionMachine } from './session.machine.ts'
import { streamMachine } from './stream.machine.ts'
import { toolMachine } from './tool.machine.ts'
import { turnMachine } from './turn.machine.ts'
import { typingMachine } from './typing.machine.ts'

export const machines: Record<string, AnyStateMachine> = {
  session: sessionMachine,
  turn: turnMachine,
  loop: loopMachine,
  tool: toolMachine,
  stream: streamMachine,
  typing: typingMachine,
  heartbeat: heartbeatMachine,
  node: nodeMachine,
  partition: partitionMachine,
  peer: peerMachine,
  prompt: promptMachine,
  provider: providerMachine,
}
