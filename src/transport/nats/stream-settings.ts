/** In which settings an existing stream differs from the one that is needed: those that break a promise, and those that do not. */
import type { StreamConfig } from '@nats-io/jetstream'

type Setting = keyof StreamConfig | 'persist_mode' | 'allow_msg_counter' | 'subject_delete_marker_ttl'
type Settings = Partial<Record<Setting, unknown>>
type Difference = { setting: Setting; found: unknown; wanted: unknown }

/** The server's defaults. With another value messages come from other streams, disappear, or are refused. */
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
/** Limits that only make a stream refuse new messages, as long as it discards the new and not the old. */
const limits: Settings = { max_msgs: -1, max_bytes: -1 }
/** Settings for which an operator may have reasons. */
const noted: Settings = { num_replicas: 1, deny_delete: false, max_consumers: -1, republish: undefined }
/** Needed where we ask for them, and harmless elsewhere. */
const needed: readonly Setting[] = ['allow_msg_ttl', 'allow_rollup_hdrs']
/** At least as much as we ask for. */
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
