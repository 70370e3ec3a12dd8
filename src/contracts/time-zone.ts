/** Names of time zones, as the tables of Node have them. */
import { z } from 'zod'

const isTimeZone = (timeZone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

export const TimeZone = z.string().max(100).refine(isTimeZone, "must be a time zone such as 'Europe/Berlin'")
