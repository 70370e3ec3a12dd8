/** The real world: the machine's clock, its randomness, its stderr. */
import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { type Clock, type Environment, type FailPoints, type Ids, type Logger, type LogLevel, noFailPoints } from '../contracts/environment.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { redacted } from '../contracts/redact.ts'

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  setTimeout: (callback, ms) => (ms <= timeoutMax ? setTimeout(callback, ms) : longTimeout(callback, ms)),
  clearTimeout: (handle) => clearTimeout((handle instanceof LongTimeout ? handle.part : handle) as NodeJS.Timeout | undefined),
}

/** The longest that a timer of JavaScript waits; a longer one would fire at once. */
const timeoutMax = 2 ** 31 - 1
class LongTimeout {
  part: NodeJS.Timeout | undefined
}
const longTimeout = (callback: () => void, ms: number): LongTimeout => {
  const timeout = new LongTimeout()
  const wait = (left: number): void => {
    timeout.part = setTimeout(() => (left > timeoutMax ? wait(left - timeoutMax) : callback()), Math.min(left, timeoutMax))
  }
  wait(ms)
  return timeout
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Asked for by the thousand: the system answers a page as fast as a byte. */
const pageOfChance = 4096
const chance = (function* (): Generator<number, never> {
  for (;;) yield* randomBytes(pageOfChance)
})()

/** Sortable by time to the ms, 80 random bits: `run-0k3v…`. */
export const systemIds: Ids = {
  next: (prefix) => {
    let time = Date.now()
    let text = ''
    for (let i = 0; i < 9; i++) {
      text = alphabet[time % 32] + text
      time = Math.floor(time / 32)
    }
    for (let i = 0; i < 16; i++) text += alphabet[chance.next().value % 32]
    return `${prefix}-${text}`
  },
}

/** What must never be read in a log, wherever it stands. */
const secrets = ['apiKey', 'api_key', 'token', 'authorization', 'Authorization', 'password', 'secret']
const redact = { paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' }

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/**
 * Logs as JSON lines on stderr, so that stdout is the program's own.
 * @param level trace, debug, info, warn, error, fatal or silent
 * @param stderr another stream in its place
 * @throws RuntimeError bad_request
 */
export const stderrLogger = (level = process.env.STATECAST_LOG || 'warn', stderr?: { write(line: string): unknown }): Logger => {
  if (!levels.includes(level))
    throw new RuntimeError('bad_request', `'${level.slice(0, 40)}' is not a log level`, {
      field: 'STATECAST_LOG',
      hint: `there are: ${levels.join(', ')}`,
    })
  const lines = pino({ level, redact }, stderr ?? pino.destination({ fd: 2, sync: true }))
  return logWith(Object.assign(lines, { enabled: lines.isLevelEnabled.bind(lines) }), () => ({}))
}

/** A logger that adds `fields` to each line, as they are when it is written; what the line says itself counts. What looks like a secret is left out. */
export const logWith = (log: Logger, fields: () => object): Logger => {
  const enabled = (level: LogLevel) => log.enabled?.(level) ?? true
  const write =
    (level: LogLevel): Logger[LogLevel] =>
    (details, message) => {
      if (enabled(level)) log[level](redacted({ ...fields(), ...details }), message)
    }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error'), enabled }
}

export const systemEnvironment = (parts: { log?: Logger; failPoints?: FailPoints } = {}): Environment => ({
  clock: systemClock,
  ids: systemIds,
  random: { next: Math.random },
  failPoints: parts.failPoints ?? noFailPoints,
  log: parts.log ?? stderrLogger(),
})
