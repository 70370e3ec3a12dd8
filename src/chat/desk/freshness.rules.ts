/** When a conversation is so old that the next message begins a new one. */
import type { Origin } from '../../contracts/reply.ts'
import { localTime } from '../../machines/session/local-time.rules.ts'

type ChatType = NonNullable<Origin['chatType']>

/** `daily`: at an hour of the day, and after `idleMinutes` as well where they are given. `idle`: after those alone. */
type FreshnessRule = {
  mode?: 'daily' | 'idle' | undefined
  /** 0 to 23; default: 4. */
  atHour?: number | undefined
  /** At least 1; default where the mode is idle: 60. */
  idleMinutes?: number | undefined
}

/** What a channel says goes before what a type of chat says, and that before the rest, field by field. */
type FreshnessPolicy = FreshnessRule & {
  /** Name of the time zone of the gateway, such as Europe/Berlin; default: UTC, also for a name that nobody knows. */
  timeZone?: string | undefined
  byType?: { [Type in ChatType]?: FreshnessRule | undefined } | undefined
  byChannel?: Record<string, FreshnessRule> | undefined
}

const dayMs = 86_400_000
const minuteMs = 60_000

/** The rule for one chat, with nothing left open. */
export const freshnessRule = (policy: FreshnessPolicy, { chatType = 'direct', channel }: { chatType?: ChatType; channel?: string }) => {
  const ofChannel = channel !== undefined && policy.byChannel && Object.hasOwn(policy.byChannel, channel) ? policy.byChannel[channel] : undefined
  const layers = [ofChannel, policy.byType?.[chatType], policy]
  const numbers = (field: 'atHour' | 'idleMinutes') => layers.map((layer) => layer?.[field]).find(Number.isFinite)
  const mode = layers.find((layer) => layer?.mode !== undefined)?.mode ?? 'daily'
  const idleMinutes = numbers('idleMinutes') ?? (mode === 'idle' ? 60 : undefined)
  return {
    mode,
    atHour: Math.min(23, Math.max(0, Math.floor(numbers('atHour') ?? 4))),
    ...(idleMinutes !== undefined && { idleMinutes: Math.max(1, idleMinutes) }),
  }
}

/** @param of the chat, and both times in ms since the epoch */
export const isStale = (of: { updatedAt: number; now: number; policy?: FreshnessPolicy; chatType?: ChatType; channel?: string }): boolean => {
  const { updatedAt, now, policy = {} } = of
  const { mode, atHour, idleMinutes } = freshnessRule(policy, of)
  if (idleMinutes !== undefined && now - updatedAt > idleMinutes * minuteMs) return true
  return mode === 'daily' && dayBegunAt(atHour, updatedAt, policy.timeZone) < dayBegunAt(atHour, now, policy.timeZone)
}

/** A number for the day that an instant belongs to, where days begin at an hour: no instant needs to be computed, so no hour can be missing. */
const dayBegunAt = (atHour: number, at: number, timeZone?: string): number => {
  const { year, month, day, hour } = localTime(at, timeZone)
  return Date.UTC(year, month - 1, day) / dayMs - (hour < atHour ? 1 : 0)
}
