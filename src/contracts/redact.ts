/** Secrets out of texts that are shown, logged or stored: all that is known of how they look stands here. Errors often repeat what the failed call was given. */
import { definedOf } from './defined.ts'
import type { Logger } from './environment.ts'
import { type ErrorBody, errorBody, RuntimeError } from './errors.ts'
import { depthMax } from './plain.ts'

/** What stands under such a name in data, whatever it looks like. */
const holdsSecret =
  /(?:authorization|api[-_]?key|access[-_]?key|account[-_]?key|private[-_]?key|secret[-_]?key|(?:^|[-_.]|access|auth|refresh|session|bot)token|passwd|password|passphrase|secret|cookie)$/i

const patterns: readonly [RegExp, string][] = [
  // As far as its end, or to the end of the text where it was cut off.
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----(?:END [A-Z ]{0,40}PRIVATE KEY-----)?|$)/g, '[redacted]'],
  // Also with a prefix: DB_PASSWORD, clientSecret.
  [
    /((?:authorization|api[-_]?key|access[-_]?key|account[-_]?key|private[-_]?key|secret[-_]?key|(?:access|auth|refresh|session|bot)[-_]?token|passwd|password|passphrase|secret)\\?["']?\s*[:=]\s*\\?["']?)(?:(?:bearer|basic)\s+)?[^\s"',;&}\\]+/gi,
    '$1[redacted]',
  ],
  [/((?:^|[^\w-])(?:set-)?cookie\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\][^\r\n"'\\]*/gi, '$1[redacted]'],
  [/(token\\?["']?\s*[:=]\s*\\?["']?)[\w.~+/=-]{8,}/gi, '$1[redacted]'],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 [redacted]'],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/"'<>]{1,200}@/gi, '$1[redacted]@'],
  [/([?&](?:key|token|sig|signature|code|x-amz-(?:signature|credential|security-token))=)[^\s&"']+/gi, '$1[redacted]'],
  // With a slash in the password, which nothing accepts and so is repeated in an error; not a port and a path.
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/"'<>:[]{0,100}:(?!\d{1,5}[/?#])[^\s"'<>]{1,200}@/gi, '$1[redacted]@'],
  // Keys that say by their beginning whose they are: models, GitHub, GitLab, npm, Slack, Stripe, SendGrid, Google, AWS, Telegram, NATS.
  [/\b(?:sk|pk|rk|gsk)[-_][\w*.-]{8,}/g, '[redacted]'],
  [/\b(?:(?:hf|npm|whsec|gh[oprsu]|github_pat)_\w{8,}|(?:xai|glpat|xapp|xox[a-z])-[\w-]{8,})/g, '[redacted]'],
  [/\b(?:(?:r8|dop_v1)_\w{20,}|(?:nvapi|pplx|csk)-[\w-]{16,}|hvs\.[\w-]{16,})/g, '[redacted]'],
  [/\bS[ACNOUX][A-Z2-7]{56}\b/g, '[redacted]'],
  [/\b(?:AIza[\w-]{16,}|(?:ya29|SG)\.[\w.-]{16,})/g, '[redacted]'],
  [/\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g, '[redacted]'],
  [/\b\d{8,10}:[\w-]{35}(?![\w-])/g, '[redacted]'],
  // A signed token (JWT).
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, '[redacted]'],
  [/(hooks\.slack\.com\/services\/)[\w/]+/g, '$1[redacted]'],
]

/** @param secrets values that must not appear in any spelling known here, such as the key in use */
export const redact = (text: string, secrets: readonly string[] = []): string => {
  const known = secrets.filter((secret) => secret.length >= 6)
  const without = known.reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text)
  return patterns.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), without)
}

/** Plain data with every text in it redacted: a copy where something was, else the same; what is not plain stays as it is. */
export const redacted = <T>(value: T, depth = 0): T => {
  if (typeof value === 'string') return redact(value) as T
  if (typeof value !== 'object' || value === null || depth > depthMax) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, inner, isSecret(key, inner) ? '[redacted]' : redacted(inner, depth + 1)] as const)
  if (entries.every(([, before, after]) => before === after)) return value
  return (Array.isArray(value) ? entries.map(([, , after]) => after) : Object.fromEntries(entries.map(([key, , after]) => [key, after]))) as T
}

/** What a model's provider attached to an answer is opaque, and for it alone. */
const isOpaque = (key: string): boolean => key === 'providerMetadata'

const isSecret = (key: string, value: unknown): boolean =>
  (typeof value === 'string' && value !== '' && holdsSecret.test(key)) || (isOpaque(key) && value !== undefined)

/** Whatever was thrown, for somebody else to read. Not its hint, which we have written: one may say how a secret is to be sent. */
export const shownBody = (thrown: unknown): ErrorBody => {
  const { hint, ...body } = errorBody(thrown)
  return { ...redacted(body), ...definedOf({ hint }) }
}

/** The same error without secrets in what is stored or shown of it. */
export const redactedError = (error: RuntimeError): RuntimeError => {
  try {
    const body = RuntimeError.prototype.toJSON.call(error)
    const clean = redacted(body)
    // Its cause is neither stored nor shown, and would still have the secret.
    return clean === body ? error : RuntimeError.from(clean)
  } catch {
    // Its data cannot even be read.
    return new RuntimeError(error.code, redact(error.message), { retryable: error.retryable })
  }
}

/** Shorter ones would take words out of texts that have nothing to do with them. */
const secretMin = 6

/** Plain data without these values, wherever they stand in it. */
export const withoutSecrets = <T>(value: T, secrets: readonly string[]): T => {
  // A longer one may hold a shorter one.
  const known = secrets.filter((secret) => secret.length >= secretMin).sort((a, b) => b.length - a.length)
  return known.length === 0 ? value : (replaced(value, known, 0) as T)
}

const replaced = (value: unknown, secrets: readonly string[], depth: number): unknown => {
  if (typeof value === 'string') return secrets.reduce((left, secret) => left.replaceAll(secret, '[redacted]'), value)
  if (typeof value !== 'object' || value === null || depth > depthMax) return value
  if (Array.isArray(value)) return value.map((inner) => replaced(inner, secrets, depth + 1))
  if (value instanceof Error)
    return replaced({ ...Object.fromEntries(Object.entries(value)), message: value.message, stack: value.stack }, secrets, depth + 1)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [replaced(key, secrets, depth), replaced(inner, secrets, depth + 1)]))
}

/** A log in which these values do not appear. */
export const logWithout = (log: Logger, secrets: readonly string[]): Logger => {
  if (secrets.length === 0) return log
  const clean = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message?: string) =>
    log[level](withoutSecrets(fields, secrets), message === undefined ? undefined : withoutSecrets(message, secrets))
  const { enabled } = log
  return {
    debug: clean('debug'),
    info: clean('info'),
    warn: clean('warn'),
    error: clean('error'),
    ...(enabled && { enabled: (level) => enabled.call(log, level) }),
  }
}
