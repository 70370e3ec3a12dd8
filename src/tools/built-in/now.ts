/** The time, which a model cannot know. */
import { z } from 'zod'
import type { Clock } from '../../contracts/environment.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Tool } from '../../contracts/tool.ts'
import { tool } from '../tool.ts'

const input = z.object({ timeZone: z.string().min(1).max(64).optional().describe('IANA name, for example Europe/Zurich; default UTC') })

/** `{ timeZone? }` → `{ iso, timeZone, local }`: UTC in ISO 8601, and the same moment as people there write it. */
export const nowTool = ({ clock }: { clock: Pick<Clock, 'now'> }): Tool =>
  tool({
    name: 'now',
    category: 'basic',
    description: 'Returns the current date and time in UTC and, when a time zone is given, the local time there.',
    input,
    execute: ({ timeZone = 'UTC' }) => {
      const moment = new Date(clock.now())
      return { iso: moment.toISOString(), timeZone, local: localTime(moment, timeZone) }
    },
    onCrash: 'retry',
    timeoutMs: 5000,
  })

const localTime = (moment: Date, timeZone: string): string => {
  try {
    // Sweden writes dates the ISO way: 2026-01-31 09:05:00.
    return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(moment)
  } catch (cause) {
    throw new RuntimeError('bad_request', `"${timeZone}" is not a time zone`, {
      field: 'timeZone',
      cause,
      hint: 'use an IANA name such as Europe/Zurich',
    })
  }
}
