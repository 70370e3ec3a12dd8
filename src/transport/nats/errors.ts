/** What the server and its client say, in our codes. */
import { JetStreamApiError } from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import { isRuntimeError, messageOf, RuntimeError } from '../../contracts/errors.ts'

/** Error codes of JetStream, see the server's errors.json. */
export const apiCodes = {
  wrongLastSequence: 10071,
  wrongLastSequenceUnknown: 10164,
  streamNotFound: 10059,
  noMessageFound: 10037,
  maxMessages: 10077,
  noStorage: 10047,
  noResources: 10023,
  notEnabledForAccount: 10039,
  duplicateInBatch: 10201,
} as const

export const apiCodeOf = (error: unknown): number | undefined => (error instanceof JetStreamApiError ? error.code : undefined)

/** Another wrote first, whichever of the two ways the server says it in. */
export const isWrongSequence = (error: unknown): boolean => {
  const code = apiCodeOf(error)
  return code === apiCodes.wrongLastSequence || code === apiCodes.wrongLastSequenceUnknown
}

/** Nobody knows whether a request that ended so was carried out. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof errors.TimeoutError || error instanceof errors.RequestError || error instanceof errors.ConnectionError

/** @param doing in words, for the message: `reading the journal of session/main` */
export const fromNats = (error: unknown, doing: string): RuntimeError => {
  if (isRuntimeError(error)) return error
  const code = apiCodeOf(error)
  if (code === apiCodes.streamNotFound)
    return new RuntimeError('log_unavailable', `${doing}: the stream is gone from the server`, {
      cause: error,
      hint: 'nothing is written any more: restore the stream from a backup, then restart the nodes; a new one would begin all sessions anew',
    })
  if (code === apiCodes.noStorage || code === apiCodes.noResources)
    return new RuntimeError('log_full', `${doing}: the server has no room left`, {
      cause: error,
      retryable: true,
      hint: 'give JetStream more storage; writing then goes on by itself',
    })
  if (code === apiCodes.maxMessages)
    return new RuntimeError('overloaded', `${doing}: too many messages wait`, {
      cause: error,
      retryable: true,
      hint: 'the nodes are slower than the load; try again',
    })
  if (code === apiCodes.notEnabledForAccount || (error instanceof Error && error.name === 'JetStreamNotEnabled'))
    return new RuntimeError('log_unavailable', `${doing}: JetStream does not answer`, {
      cause: error,
      retryable: true,
      hint: "see whether the server runs with JetStream enabled for this account ('jetstream {}' in its configuration), and whether a quorum of it is up",
    })
  if (error instanceof errors.PermissionViolationError || error instanceof errors.AuthorizationError)
    return new RuntimeError('forbidden', `${doing}: ${messageOf(error)}`, {
      cause: error,
      hint: 'give this user the permissions of its role, see docs/reference/nats.md',
    })
  if (error instanceof errors.ClosedConnectionError || error instanceof errors.DrainingConnectionError)
    return new RuntimeError('closed', `${doing}: the connection is closed`, { cause: error, retryable: true, hint: 'open it again' })
  return new RuntimeError('log_unavailable', `${doing}: ${messageOf(error)}`, {
    cause: error,
    retryable: true,
    hint: 'see whether the NATS server can be reached; what was acknowledged is safe',
  })
}
