/** Errors of the server and of its client, in our codes. */
import { JetStreamApiError } from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import { isRuntimeError, messageOf, RuntimeError } from '../../contracts/errors.ts'

/** Error codes of JetStream, see the server's errors.json. */
export const apiCodes = {
  wrongLastSequence: 10071,
  wrongLastSequenceUnknown: 10164,
  streamNotFound: 10059,
  noMessageFound: 10037,
  /** A stream refuses because of one of its limits; only the text says which. */
  streamLimit: 10077,
  noStorage: 10047,
  noResources: 10023,
  accountLimit: 10002,
  notEnabledForAccount: 10039,
  duplicateInBatch: 10201,
} as const

export const apiCodeOf = (error: unknown): number | undefined => (error instanceof JetStreamApiError ? error.code : undefined)

/** Another writer was first; the server has two ways to say so. */
export const isWrongSequence = (error: unknown): boolean => {
  const code = apiCodeOf(error)
  return code === apiCodes.wrongLastSequence || code === apiCodes.wrongLastSequenceUnknown
}

/** The server has no space for the message, and stored nothing of it. */
export const isFull = (error: unknown): boolean => {
  if (isRuntimeError(error)) return error.code === 'log_full'
  const code = apiCodeOf(error)
  if (code === apiCodes.streamLimit) return /bytes/.test(messageOf(error))
  return code === apiCodes.noStorage || code === apiCodes.noResources || code === apiCodes.accountLimit || isDiskFull(error)
}

/** Only a request that deletes is answered with it: a publish then gets no answer at all. */
export const isDiskFull = (error: unknown): boolean => error instanceof JetStreamApiError && /no space left|disk quota/i.test(error.message)

/** The permission that this user lacks, however deep in its error the client has it. */
export const violationIn = (error: unknown): { operation: 'publish' | 'subscription'; subject: string } | undefined => {
  if (error instanceof errors.PermissionViolationError) return error
  return error instanceof Error && error.cause !== undefined ? violationIn(error.cause) : undefined
}

/** @param doing in words, for the message: `reading the journal of session/main` */
export const fromNats = (error: unknown, doing: string): RuntimeError => {
  if (isRuntimeError(error)) return error
  const violation = violationIn(error)
  if (violation !== undefined) return forbidden(violation, doing, error)
  const code = apiCodeOf(error)
  if (code === apiCodes.streamNotFound)
    return new RuntimeError('log_unavailable', `${doing}: the stream is gone from the server`, {
      cause: error,
      hint: 'nothing is written any more: restore the stream from a backup, then restart the nodes; a new one would begin all sessions anew',
    })
  if (isDiskFull(error)) return diskFull(doing, error)
  if (isFull(error)) return noRoom(doing, error)
  if (code === apiCodes.streamLimit)
    return new RuntimeError('overloaded', `${doing}: too many messages wait`, {
      cause: error,
      retryable: true,
      hint: 'the nodes are slower than the load; try again',
    })
  if (code === apiCodes.notEnabledForAccount || (error instanceof Error && error.name === 'JetStreamNotEnabled'))
    return new RuntimeError('log_unavailable', `${doing}: JetStream does not answer`, {
      cause: error,
      retryable: true,
      hint: "see whether the server runs with JetStream enabled for this account ('jetstream {}' in its configuration), and whether a quorum of it is up and has room",
    })
  if (error instanceof errors.AuthorizationError)
    return new RuntimeError('forbidden', `${doing}: ${messageOf(error)}`, { cause: error, hint: permissionsHint })
  if (error instanceof errors.ClosedConnectionError || error instanceof errors.DrainingConnectionError)
    return new RuntimeError('closed', `${doing}: the connection is closed`, { cause: error, retryable: true, hint: 'open it again' })
  return new RuntimeError('log_unavailable', `${doing}: ${messageOf(error)}`, {
    cause: error,
    retryable: true,
    hint: 'see whether the NATS server can be reached; what was acknowledged is safe',
  })
}

export const noRoom = (doing: string, cause: unknown): RuntimeError =>
  new RuntimeError('log_full', `${doing}: the server has no room left (${messageOf(cause)})`, {
    cause,
    retryable: true,
    hint: 'delete sessions, or give JetStream more storage; writing then resumes by itself, and what was acknowledged is safe',
  })

/** A file that could not be written stays closed until the server restarts (2.15). */
export const diskFull = (doing: string, cause: unknown): RuntimeError =>
  new RuntimeError('log_full', `${doing}: the disk of the NATS server is full`, {
    cause,
    retryable: true,
    hint: 'free space on its disk and restart nats-server: it takes nothing more before; what was acknowledged is safe and can be read',
  })

const permissionsHint = 'give this user the permissions of its role: `statecast permissions` prints them for the configuration of nats-server'

const forbidden = ({ operation, subject }: { operation: string; subject: string }, doing: string, cause: unknown): RuntimeError => {
  const may = operation === 'publish' ? 'publish to' : 'subscribe to'
  // A user with a private inbox is refused the common one first of all.
  const hint = subject.startsWith('_INBOX.')
    ? `its answers come on a prefix of its own: add ?inbox_prefix=_INBOX_<role> to the address; ${permissionsHint}`
    : permissionsHint
  return new RuntimeError('forbidden', `${doing}: this user of the NATS server may not ${may} ${subject}`, {
    cause,
    hint,
    data: { operation, subject },
  })
}
