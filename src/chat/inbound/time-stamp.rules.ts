/** When a message came, as the model is told. It is made once and journalled, so that it reads the same each time that the message is sent. */
import { localTime } from '../../machines/session/local-time.rules.ts'

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
/** `[Mon 2026-01-05 14:03 UTC]`, `[2026-01-05T14:03:22Z]`, `[Monday, 2026-01-05 14:03]` */
const stamped = /^\s*\[(?:[A-Z][a-z]{2,8},? )?\d{4}-\d\d-\d\d[ T]\d\d:\d\d[^\]\n]{0,60}\]/

/** @param at ms since the epoch @returns undefined where the text begins with a stamp, or is none */
export const timeStampFor = (text: string, at: number, timeZone = 'UTC'): string | undefined => {
  if (text.trim() === '' || stamped.test(text)) return undefined
  const { year, month, day, hour, minute } = localTime(at, timeZone)
  const two = (part: number) => String(part).padStart(2, '0')
  const weekday = weekdays[new Date(Date.UTC(year, month - 1, day)).getUTCDay()]
  return `[${weekday} ${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)} ${timeZone}]`
}
