/** What of a stream that is there differs from what is wanted: where it breaks a promise, and where it does not. */
import type { StreamConfig } from '@nats-io/jetstream'

export type Setting = keyof StreamConfig | 'persist_mode' | 'allow_msg_counter' | 'subject_delete_marker_ttl'
export type Settings = Partial<Record<Setting, unknown>>
export type Difference = { setting: Setting; found: unknown; wanted: unknown }

/** What the server takes where nothing is said. With another value messages come from elsewhere, go away, or are refused. */
const promised: Settings = {
  subjects: [],
  subject_transform: undefined,
  mirror: undefined,
  sources: undefined,
  retention: 'limits',
  storage: 'file',
  persist_mode: 'default',
  sealed: false,
  no_ack: false,
  discard: 'old',
  discard_new_per_subject: false,
  max_age: 0,
  max_msgs_per_subject: -1,
  max_msg_size: -1,
  deny_purge: false,
  allow_direct: false,
  allow_msg_counter: false,
}
/** Limits that only make a stream refuse what does not fit, as long as it discards the new. */
const limits: Settings = { max_msgs: -1, max_bytes: -1 }
/** What an operator may have reasons for. */
const noted: Settings = { num_replicas: 1, deny_delete: false, max_consumers: -1, republish: undefined }
/** Needed where they are wanted, and harmless elsewhere. */
const needed: readonly Setting[] = ['allow_msg_ttl', 'allow_rollup_hdrs']
/** At least what is wanted. */
const least: readonly Setting[] = ['duplicate_window', 'subject_delete_marker_ttl']

export const compareSettings = (found: Settings, wanted: Settings): { broken: Difference[]; noted: Difference[] } => {
  const differing = (defaults: Settings): Difference[] =>
    (Object.keys(defaults) as Setting[])
      .map((setting) => ({ setting, found: found[setting] ?? defaults[setting], wanted: wanted[setting] ?? defaults[setting] }))
      .filter((one) => canonical(one.found) !== canonical(one.wanted))
  const lacking = [
    ...needed.filter((setting) => wanted[setting] === true && found[setting] !== true),
    ...least.filter((setting) => Number(found[setting] ?? 0) < Number(wanted[setting] ?? 0)),
  ].map((setting) => ({ setting, found: found[setting] ?? null, wanted: wanted[setting] }))
  const refusing = found.discard === 'new'
  return {
    broken: [...differing(promised), ...lacking, ...(refusing ? [] : differing(limits))],
    noted: [...(refusing ? differing(limits) : []), ...differing(noted)],
  }
}

/** The order of keys says nothing, nor that of subjects; an empty list is none. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : JSON.stringify(value.map(canonical).sort())
  if (typeof value === 'object' && value !== null)
    return JSON.stringify(
      Object.keys(value)
        .sort()
        .map((key) => [key, canonical((value as Record<string, unknown>)[key])]),
    )
  return value === undefined ? 'none' : JSON.stringify(value)
}

/** `max_age is 3600000000000 and should be 0; …`; durations are in nanoseconds, as everywhere in JetStream. */
export const inWords = (differences: readonly Difference[]): string =>
  differences
    .map(({ setting, found, wanted }) => `${setting} is ${JSON.stringify(found) ?? 'not set'} and should be ${JSON.stringify(wanted) ?? 'not set'}`)
    .join('; ')
