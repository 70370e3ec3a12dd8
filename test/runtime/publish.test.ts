/** What actors say, on its way to the bus: it disturbs nobody there and nobody here. */
import { expect, test, vi } from 'vitest'
import { RuntimeError } from '../../src/contracts/errors.ts'
import { subjects } from '../../src/contracts/subjects.ts'
import type { Bus } from '../../src/contracts/transport.ts'
import { EventHub } from '../../src/runtime/event-hub.ts'
import type { OutputListener } from '../../src/runtime/output-event.ts'
import { publishOutputs } from '../../src/runtime/publish.ts'

const address = { kind: 'session', id: 's' }
const bytesMax = 10_000

/** A bus with listeners that takes small messages only. */
const aBus = () => {
  const heard: Record<string, unknown>[] = []
  const publish: Bus['publish'] = (_, data) => {
    if (data.length > bytesMax) throw new RuntimeError('too_large', `${data.length} bytes`)
    heard.push(JSON.parse(new TextDecoder().decode(data)) as Record<string, unknown>)
  }
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const { say } = publishOutputs({ wanted: () => true, publish } as unknown as Bus, subjects(), log)
  return { heard, log, say: (event: { type: string; [field: string]: unknown }) => say(address, { path: '/', event, seq: 1, index: 0 }) }
}

test('an event that does not fit is heard without what is long in it, also where a field holds nothing', () => {
  const { heard, log, say } = aBus()

  say({ type: 'final', ids: ['m'], finish: undefined, text: 'x'.repeat(bytesMax) })

  expect(heard).toEqual([{ type: 'final', ids: ['m'], path: '/', seq: 1, part: 0, tooLarge: true }])
  expect(log.warn).not.toHaveBeenCalled()
})

test('one that is large in small parts is not heard, and whoever said it goes on', () => {
  const { heard, log, say } = aBus()
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`field${n}`, 'x'.repeat(500)]))

  say({ type: 'tool', ...many })
  say({ type: 'final', ids: ['m'] })

  expect(heard.map(({ type }) => type)).toEqual(['final'])
  expect(log.warn).toHaveBeenCalledOnce()
})

test('a reader that comes after the last one left receives each event of another node once', () => {
  const feeds = new Set<OutputListener>()
  const outputs = (_: string, hear: OutputListener) => {
    feeds.add(hear)
    return () => void feeds.delete(hear)
  }
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const hub = new EventHub(log, { outputs, growth: () => () => undefined })
  const read = () => {
    const heard: string[] = []
    return { heard, leave: hub.listen('session/s', ({ event }) => void heard.push(event.type)) }
  }
  const other = (type: string) => {
    for (const hear of feeds) hear({ path: '/', event: { type }, remote: true })
  }

  const first = read()
  other('started')
  first.leave()
  expect(feeds.size).toBe(0)
  const second = read()
  other('final')

  expect([first.heard, second.heard]).toEqual([['started'], ['final']])
})
