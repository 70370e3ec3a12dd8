/** What a message may want for itself. */
import type { AnswerFormat, ToolChoice } from '../contracts/answer-format.ts'
import type { ClientResult, ClientTool } from '../contracts/client-tools.ts'
import type { FileRef } from '../contracts/file.ts'
import type { Origin } from '../contracts/reply.ts'
import type { QueueMode, ThinkingLevel } from '../contracts/settings.ts'

export type SendOptions = {
  /** A repeated one changes nothing and is answered as the first. */
  idempotencyKey?: string | undefined
  queueMode?: QueueMode | undefined
  model?: string | undefined
  thinking?: ThinkingLevel | undefined
  /** ms that its turn may work; 0 and less mean the default. */
  timeoutMs?: number | undefined
  /** Whether its answer goes to the channel in blocks while it is written; default: as agent and channel want it. */
  streaming?: boolean | undefined
  /** Where it came from, and so where the answer goes. */
  origin?: Origin | undefined
  /** Only these skills for this message; none where it is empty. */
  skills?: readonly string[] | undefined
  /** Key of the session that this one is a thread of. */
  parent?: string | undefined
  /** What `files.put` answered; the text may be empty then. */
  files?: readonly FileRef[] | undefined
  /** Tools that the sender runs: a call of one ends the run with the call. */
  clientTools?: readonly ClientTool[] | undefined
  /** Which function the model must call; default: it decides. */
  toolChoice?: ToolChoice | undefined
  /** The answer is JSON of this form; default: text. */
  format?: AnswerFormat | undefined
  /** Of the calls with which the run before has ended; the text may be empty then. */
  toolResults?: readonly ClientResult[] | undefined
  /** Nobody has written it: the agent looks whether there is something to say. */
  heartbeat?: boolean | undefined
}
