/** Every way Statecast can refuse or fail, as stable codes; messages may change, codes do not within a major version. */
import { definedOf } from './defined.ts'
export const errorCodes = {
  bad_request: 'the input does not fit its schema',
  unauthorised: 'no valid credential was given',
  forbidden: 'the credential does not allow this',
  not_found: 'there is nothing under this name',
  conflict: 'the name is taken by something else',
  already_decided: 'this approval has been decided before, or its turn has ended',
  overloaded: 'a bounded queue is full',
  too_large: 'the input is larger than its stated limit',
  rate_limited: 'too many requests in this time',
  session_busy: 'the session cannot do this while a turn is running',
  closed: 'the actor has ended and takes no more events',
  quarantined: 'the actor failed too often and was quarantined',
  fenced: 'another host has taken this actor over',
  log_full: 'there is too little free space to promise durability',
  log_unavailable: 'the journal did not answer',
  locked: 'another runtime uses this data folder',
  corrupt_at: 'the journal is damaged at a known place',
  drift: 'the recorded trace does not fit this version of the machine',
  not_durable: 'this machine contains something that cannot be made durable',
  not_deterministic: 'this machine is not the same every time, so a replay would lead elsewhere',
  unsupported: 'this build or backend cannot do it',
  timeout: 'the deadline passed',
  cancelled: 'somebody asked for it to stop',
  internal: 'a defect in Statecast itself',
  provider_auth: 'the model provider refused the key',
  provider_billing: 'the model provider wants payment',
  provider_rate_limit: 'the model provider asks to slow down',
  provider_timeout: 'the model provider did not answer in time',
  provider_overflow: 'the conversation is longer than the model can read',
  provider_malformed: 'the model provider answered with something unreadable',
  provider_unavailable: 'the model provider cannot be reached or is down',
  provider_rejected: 'the model provider refused the request',
  provider_unknown_model: 'no model goes by this name',
  tool_unknown: 'the model asked for a tool that does not exist',
  tool_input: 'the arguments do not fit the schema of the tool',
  tool_failed: 'the tool threw an error',
  tool_timeout: 'the tool did not finish in time',
  tool_denied: 'the tool call was refused, as a rule by a person',
  tool_blocked: 'a rule of the application did not let the tool call run',
  tool_loop: 'the same tool calls came again and again with the same results',
  tool_skipped: 'the tool call was overtaken by a newer message',
  tool_output: 'the tool returned something that cannot be stored',
  tool_lost: 'the process that ran the tool is gone and had not answered',
  tool_in_doubt: 'it is not known whether the tool ran',
  sandbox_limit: 'a command reached a limit of its sandbox and was stopped',
  link_refused: 'the link leads where nothing is fetched from',
  link_unavailable: 'what the link leads to could not be fetched',
  budget_steps: 'the turn used all its steps',
  budget_tokens: 'the turn used all its tokens',
  budget_tool_calls: 'the turn used all its tool calls',
  budget_time: 'the turn used all its time',
} as const

export type ErrorCode = keyof typeof errorCodes

export type ErrorDetails = {
  /** What to do next, for the person who reads it. */
  hint?: string | undefined
  /** Whether the same request may succeed later, unchanged. */
  retryable?: boolean | undefined
  /** The input field at fault. */
  field?: string | undefined
  /** Facts for programs, JSON only. */
  data?: Record<string, unknown> | undefined
  cause?: unknown
}

/** The wire form of every error: `{ error: ErrorBody }`. */
export type ErrorBody = {
  code: ErrorCode
  message: string
  hint?: string
  retryable: boolean
  field?: string
  data?: Record<string, unknown>
}

/** Shared by all copies of the package, which a class is not. */
const brand = Symbol.for('statecast.RuntimeError')

/** An expected failure with a stable code. A bare `TypeError` means a bug in the caller and is never caught. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly retryable: boolean
  readonly field: string | undefined
  readonly data: Record<string, unknown> | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.hint = details.hint
    this.retryable = details.retryable ?? false
    this.field = details.field
    this.data = details.data
  }

  get [brand](): true {
    return true
  }

  toJSON(): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      ...definedOf({ hint: this.hint, field: this.field, data: this.data }),
    }
  }

  static from(body: ErrorBody): RuntimeError {
    return new RuntimeError(body.code, body.message, body)
  }
}

/**
 * Recognises our errors also when two copies of the package are loaded, and takes nothing else for one: an error of somebody else that has
 * the same name and a code of ours lacks the brand. Runs no code of the value, so that a getter that throws cannot get in the way.
 */
export const isRuntimeError = (value: unknown): value is RuntimeError => {
  try {
    if (!(value instanceof Error) || !(brand in value) || Object.hasOwn(value, 'toJSON')) return false
    const own = (key: keyof ErrorBody): unknown => {
      const property = Object.getOwnPropertyDescriptor(value, key)
      // A getter may answer otherwise the next time: it stands for something that fits nowhere.
      return property === undefined || 'value' in property ? property?.value : brand
    }
    const code = own('code')
    const data = own('data')
    return (
      typeof code === 'string' &&
      Object.hasOwn(errorCodes, code) &&
      typeof own('message') === 'string' &&
      typeof own('retryable') === 'boolean' &&
      isTextOrNothing(own('hint')) &&
      isTextOrNothing(own('field')) &&
      (data === undefined || (typeof data === 'object' && data !== null))
    )
  } catch {
    // A proxy can refuse even to be looked at.
    return false
  }
}

const isTextOrNothing = (value: unknown): boolean => value === undefined || typeof value === 'string'

/** Whatever was thrown, as an error body; what we do not know becomes `fallback`. */
export const errorBody = (thrown: unknown, fallback: ErrorCode = 'internal'): ErrorBody =>
  isRuntimeError(thrown) ? RuntimeError.prototype.toJSON.call(thrown) : { code: fallback, message: messageOf(thrown), retryable: false }

const objectCharsMax = 1_000

/** The message of whatever was thrown. A thrown value may be anything, also an object whose getters or toString throw. */
export const messageOf = (thrown: unknown): string => {
  try {
    const words = String(typeof thrown === 'object' && thrown !== null && 'message' in thrown ? thrown.message : thrown)
    // `throw { status: 402 }`: what it says stands in its keys.
    return words === '[object Object]' ? JSON.stringify(thrown).slice(0, objectCharsMax) : words
  } catch {
    return ''
  }
}
