/** What one connection works with. */
import type { Access } from '../../contracts/access.ts'
import type { CommandName } from '../../contracts/commands.ts'
import type { Clock, Logger } from '../../contracts/environment.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { AnswerRoom } from '../answer-room.ts'
import type { SessionFeeds } from '../chat/index.ts'
import type { SocketLimits } from './limits.ts'

/** @property access what the token allows now; undefined where that is everything @throws RuntimeError unauthorised */
export type SocketCaller = { client: string; token: number | string; access?: () => Access }

export type ConnectionParts = {
  runtime: () => Runtime
  feeds: SessionFeeds
  clock: Clock
  log: Logger
  limits: SocketLimits
  /** Says whether a token is ours. @returns who shows it, and what it allows now @throws RuntimeError unauthorised, rate_limited */
  authorise: (token: string) => SocketCaller
  /** Refuses what begins work while the node shuts down. @throws RuntimeError closed */
  admit: (command: CommandName) => void
  room: AnswerRoom
}
