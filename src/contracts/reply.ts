/** What a channel brings in with a message, and what it gets to deliver. */
import { z } from 'zod'

const Name = z.string().min(1).max(200)

/** Where an answer goes. */
export const Route = z.strictObject({
  channel: Name.describe('id of the channel adapter'),
  account: Name.optional().describe('which of our accounts there'),
  to: Name.describe('who or what is written to, as the channel names it'),
  thread: Name.optional().describe('the thread in it'),
})
export type Route = z.infer<typeof Route>

/** Where a message came from. */
export const Origin = Route.extend({
  chatType: z.enum(['direct', 'group', 'thread']).optional().describe('default: direct'),
  messageId: Name.optional().describe('the message as its channel names it: one that comes again within 20 minutes is taken once'),
  sender: Name.optional().describe('who wrote it'),
  authorised: z.boolean().optional().describe('whether the sender may give commands; default: true'),
  approves: z.boolean().optional().describe('whether the sender may decide about tool calls that wait; default: as with commands'),
  mentioned: z.boolean().optional().describe('whether a message to a group names us'),
  subject: z.string().max(500).optional().describe('what the group is called'),
  members: z.array(Name).max(100).optional().describe('who is in it'),
})
export type Origin = z.infer<typeof Origin>

/** Id of the channel of those who read the session itself, as our page does: answers to it do not leave. */
export const webChannelId = 'web'

/** One message to a user. What has neither text nor media nor `voice` nor `data` is nothing, and is not sent. */
export type Payload = {
  text?: string
  /** Addresses of pictures, sounds and other files. */
  media?: string[]
  /** The message that this answers, as its channel names it. */
  replyTo?: string
  /** The model asked for this `replyTo` by a tag; some channels allow that where threading is off. */
  replyTagged?: true
  /** Sound that is to be played as a voice message. */
  voice?: true
  /** It says that something went wrong. */
  error?: true
  /** For the channel alone. */
  data?: Record<string, unknown>
}

/** Which answers point at the message that they answer. */
export const ReplyToMode = z.enum(['off', 'first', 'all'])
export type ReplyToMode = z.infer<typeof ReplyToMode>

/** The words by which a model says that nothing is to be sent, and that a heartbeat found nothing. */
export type Tokens = { silent: string; heartbeat: string }
export const defaultTokens: Tokens = { silent: 'NO_REPLY', heartbeat: 'HEARTBEAT_OK' }
