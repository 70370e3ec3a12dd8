/** The list that the docs and the command line draw. */
import type { AnyStateMachine } from 'xstate'
import { promptMachine } from './api/agent-protocol/prompt.machine.ts'
import { paceMachine } from './api/chat/pace.machine.ts'
import { errandMachine } from './api/openai/errand.machine.ts'
import { answerMachine } from './api/ui-stream/answer.machine.ts'
import { connectionMachine } from './api/ws/connection.machine.ts'
import { deliveryMachine } from './chat/delivery/delivery.machine.ts'
import { dispatcherMachine } from './chat/delivery/dispatcher.machine.ts'
import { typingMachine } from './chat/delivery/typing.machine.ts'
import { deskMachine } from './chat/desk/desk.machine.ts'
import { heartbeatMachine } from './chat/heartbeat/heartbeat.machine.ts'
import { followMachine } from './client/follow.machine.ts'
import { conversationMachine } from './client/socket/conversation.machine.ts'
import { socketMachine } from './client/socket/socket.machine.ts'
import { nodeMachine } from './cluster/node.machine.ts'
import { partitionMachine } from './cluster/partition.machine.ts'
import { peerMachine } from './cluster/peer.machine.ts'
import { askMachine } from './machines/ask/ask.machine.ts'
import { pacedAskMachine } from './machines/ask/paced-ask.machine.ts'
import { configMachine } from './machines/config/config.machine.ts'
import { loopMachine } from './machines/loop/loop.machine.ts'
import { pacedLoopMachine } from './machines/loop/paced-loop.machine.ts'
import { providerMachine } from './machines/provider/provider.machine.ts'
import { sessionMachine } from './machines/session/session.machine.ts'
import { sideMachine } from './machines/side/side.machine.ts'
import { toolMachine } from './machines/tool-call/tool.machine.ts'
import { turnMachine } from './machines/turn/turn.machine.ts'
import { lookUpMachine } from './machines/understanding/lookup.machine.ts'
import { understandingMachine } from './machines/understanding/understanding.machine.ts'
import { mcpServerMachine } from './tools/mcp/mcp-server.machine.ts'

export const machines: Record<string, AnyStateMachine> = {
  session: sessionMachine,
  turn: turnMachine,
  loop: loopMachine,
  'paced-loop': pacedLoopMachine,
  tool: toolMachine,
  ask: askMachine,
  'paced-ask': pacedAskMachine,
  side: sideMachine,
  understanding: understandingMachine,
  lookup: lookUpMachine,
  desk: deskMachine,
  delivery: deliveryMachine,
  dispatcher: dispatcherMachine,
  typing: typingMachine,
  heartbeat: heartbeatMachine,
  node: nodeMachine,
  partition: partitionMachine,
  peer: peerMachine,
  prompt: promptMachine,
  connection: connectionMachine,
  pace: paceMachine,
  errand: errandMachine,
  follow: followMachine,
  answer: answerMachine,
  provider: providerMachine,
  config: configMachine,
  socket: socketMachine,
  conversation: conversationMachine,
  'mcp-server': mcpServerMachine,
}
