/** An alarm clock: timers and actions of an author's machine, and what must be true of them. */
import { raise, setup } from 'xstate'
import { checkWriters } from '../checker/check.ts'
import type { Commit } from '../checker/evidence.ts'

type AlarmEvent = { type: 'set'; id: string; ms: number } | { type: 'due'; id: string }

/** What the client knew, and what the world heard. */
export type AlarmLine = { what: 'asked' | 'set' | 'rang'; id: string; order: number; at: number; ms?: number }

export const alarmMachine = (ring: (id: string) => Promise<void>) =>
  setup({ types: { events: {} as AlarmEvent }, actions: { ring: (_, { id }: { id: string }) => ring(id) as unknown as void } }).createMachine({
    id: 'alarm',
    on: {
      set: { actions: raise(({ event }) => ({ type: 'due' as const, id: event.id }), { delay: ({ event }) => event.ms }) },
      due: { actions: { type: 'ring', params: ({ event }) => ({ id: event.id }) } },
    },
  })

/** Every alarm that was set rings, never before it is due and never before it stands in the journal. */
/** @param skewMs by which clocks may have been wrong */
export const checkAlarm = (commits: Commit[], lines: AlarmLine[], skewMs: number): string[] => {
  const violations: string[] = []
  const expect = (fine: boolean, otherwise: string) => void (fine || violations.push(`alarm: ${otherwise}`))
  checkWriters(commits, expect)
  const inputs = commits.flatMap(({ order, inputs }) => inputs.map((input) => ({ order, ...input })))
  const fired = inputs.filter(({ timer }) => timer !== undefined)
  const sets = inputs.filter(({ event }) => event?.type === 'set')
  expect(fired.length === sets.length, `${sets.length} were set, ${fired.length} timers fired`)
  expect(new Set(fired.map(({ timer }) => timer)).size === fired.length, 'a timer fired twice')
  for (const { what, id, order, at } of lines) {
    if (what === 'asked') continue
    const [set, ...more] = inputs.filter((input) => input.event?.type === 'set' && input.id === id)
    expect(set !== undefined && more.length === 0, `${id} was ${what} and stands ${more.length + (set ? 1 : 0)} times in the journal`)
    if (what === 'set') {
      expect(
        lines.some((line) => line.what === 'rang' && line.id === id),
        `${id} never rang`,
      )
      continue
    }
    const asked = lines.find((line) => line.what === 'asked' && line.id === id)
    expect(asked !== undefined && at >= asked.at + (asked.ms ?? 0) - skewMs, `${id} rang too early`)
    expect(
      fired.some((timer) => timer.order < order),
      `${id} rang before any timer fired`,
    )
  }
  return violations
}
