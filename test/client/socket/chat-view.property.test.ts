/** Whatever way events take, and however often they come, a page shows the same in the end. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ChatAction, type ChatView, type HistoryMessage, viewOf } from '../../../src/client/socket/index.ts'
import type { ChatBlock, ChatEvent } from '../../../src/contracts/gateway.ts'
import { casesOf } from '../../support/property.ts'
import { aPage, chat, event, fold, joined, lines, message, opened, subscribed, text, thinking, tool } from './a-chat.ts'

type Step = { thinking: string; text: string; calls: number; joins: boolean }
type Turn = { steps: Step[]; end: ChatEvent['state']; collected: boolean; asks: boolean; notice: boolean }

const words = fc.string({ minLength: 1, maxLength: 6 })
const aStep: fc.Arbitrary<Step> = fc.record({
  thinking: fc.oneof(fc.constant(''), words),
  text: words,
  calls: fc.nat({ max: 2 }),
  joins: fc.boolean(),
})
const aTurn: fc.Arbitrary<Turn> = fc.record({
  steps: fc.array(aStep, { minLength: 1, maxLength: 3 }),
  end: fc.constantFrom<ChatEvent['state'][]>('final', 'aborted', 'error', 'delta'),
  collected: fc.boolean(),
  asks: fc.boolean(),
  notice: fc.boolean(),
})
const someTurns = fc.array(aTurn, { minLength: 1, maxLength: 3 })

/** What a gateway says of these turns, in its order, and what their history is in the end. */
const story = (turns: readonly Turn[]): { events: ChatAction[]; contents: ChatBlock[][]; history: HistoryMessage[] } => {
  const events: ChatAction[] = []
  const contents: ChatBlock[][] = []
  const history: HistoryMessage[] = []
  let now = 1_000
  const timestamp = () => ++now
  for (const [place, { steps, end, collected, asks, notice }] of turns.entries()) {
    const runId = `u${place}`
    let seq = 0
    let content: ChatBlock[] = []
    const delta = (more: ChatBlock): void => {
      content = [...content, more]
      contents.push(content)
      events.push(chat(++seq, undefined, { runId, message: { role: 'assistant', content, timestamp: timestamp() } }))
    }
    const first = timestamp()
    events.push(message(runId, collected ? 'collected' : 'started', { timestamp: first }))
    if (collected) events.push(message(`${runId}c`, 'collected', { timestamp: timestamp() }))
    history.push({ role: 'user', id: runId, text: collected ? `text of ${runId}\ntext of ${runId}c` : `text of ${runId}`, at: first })
    for (const [index, step] of steps.entries()) {
      const id = `${runId}:${index + 1}`
      if (step.thinking !== '') delta(thinking(step.thinking, id))
      delta(text(step.text, id))
      const at = now
      const calls = Array.from({ length: step.calls }, (_, nth) => ({ callId: 'again', name: 'add', input: nth }))
      history.push({ role: 'assistant', id, text: step.text, ...(step.thinking === '' ? {} : { reasoning: step.thinking }), calls, at })
      for (const { input: nth } of calls) {
        const callId = `main/${id}:${nth + 1}`
        delta({ type: 'tool', id, callId, name: 'add' })
        events.push(tool('running', { runId, callId, input: nth, timestamp: timestamp() }))
        if (asks) {
          const approval = { callId, runId, name: 'add', input: nth, inputHash: 'h', attempt: 1, why: 'approval' as const }
          events.push(event('approval.requested', { sessionKey: 'main', approval, timestamp: timestamp() }))
          if (nth === 0) events.push(event('approval.resolved', { sessionKey: 'main', runId, callId, decision: 'approve', timestamp: timestamp() }))
        }
        events.push(tool('running', { runId, callId, progress: 'half', timestamp: timestamp() }))
        events.push(tool('done', { runId, callId, output: 2 * nth, timestamp: timestamp() }))
        history.push({ role: 'tool', callId: 'again', name: 'add', output: 2 * nth, isError: false })
      }
      if (step.joins && index + 1 < steps.length) {
        const joiner = `${runId}j${index}`
        events.push(message(joiner, 'steered', { runId, timestamp: timestamp() }))
        delta(joined(joiner, `text of ${joiner}`))
        history.push({ role: 'user', id: joiner, text: `text of ${joiner}`, at: now })
      }
    }
    if (notice) events.push(event('session.notice', { sessionKey: 'main', text: `notice ${place}`, timestamp: timestamp() }))
    const ids = [runId, ...(collected ? [`${runId}c`] : [])]
    if (end !== 'delta') events.push(chat(++seq, undefined, { runId, state: end, ids, model: 'a/b' }))
  }
  return { events, contents, history }
}

const drawn = ({ entries, waiting, approvals, run, busy, stale }: ChatView) => ({ entries, waiting, approvals, run, busy, stale })
/** Each of them at least once, in any order. */
const shuffled = <T>(all: readonly T[]): fc.Arbitrary<T[]> =>
  fc
    .tuple(fc.shuffledSubarray([...all], { minLength: all.length }), fc.shuffledSubarray([...all]))
    .chain(([once, again]) => fc.shuffledSubarray([...once, ...again], { minLength: once.length + again.length }))

describe('of some turns', () => {
  test('[CH-83, CH-85] events in any order, any of them twice, are the same conversation', () => {
    const case_ = someTurns.chain((turns) => {
      const { events } = story(turns)
      return fc.record({ events: fc.constant(events), anyhow: shuffled(events) })
    })
    fc.assert(
      fc.property(case_, ({ events, anyhow }) => {
        expect(drawn(aPage(...anyhow))).toEqual(drawn(aPage(...events)))
      }),
      casesOf(import.meta.url),
    )
  })

  test('[CH-87] with their history read at any moment, too, and whatever it holds already', () => {
    const case_ = someTurns.chain((turns) => {
      const { events, history } = story(turns)
      return fc.record({
        history: fc.constant(history),
        events: fc.constant(events),
        anyhow: shuffled(events),
        place: fc.nat({ max: 2 * events.length }),
      })
    })
    fc.assert(
      fc.property(case_, ({ history, events, anyhow, place }) => {
        const inOrder = aPage(...events)
        const read = opened(inOrder, history)

        expect(drawn(aPage(...anyhow.slice(0, place), read, ...anyhow.slice(place)))).toEqual(drawn(aPage(...events, read)))
      }),
      casesOf(import.meta.url),
    )
  })

  test('no word is lost, and none stands there twice, whatever part of the history is read on the way', () => {
    const case_ = someTurns.chain((turns) => {
      const { events, history } = story(turns)
      return fc.record({
        events: fc.constant(events),
        history: fc.constant(history),
        until: fc.nat({ max: history.length }),
        place: fc.nat({ max: events.length }),
      })
    })
    fc.assert(
      fc.property(case_, ({ events, history, until, place }) => {
        const view = aPage(...events.slice(0, place))
        const after = fold([opened(view, history.slice(0, until)), ...events.slice(place)], view)
        const keys = after.entries.flatMap((entry) => [entry.key, ...(entry.type === 'answer' ? entry.blocks.map(({ key }) => `in ${key}`) : [])])

        expect(new Set(keys).size).toBe(keys.length)
        const blocks = after.entries.flatMap((entry) => (entry.type === 'answer' ? entry.blocks : []))
        const answers = history.filter((one) => one.role === 'assistant')
        expect(blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))).toEqual(answers.map((one) => one.text))
        expect(blocks.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : []))).toEqual(answers.flatMap((one) => one.reasoning ?? []))
        expect(blocks.filter(({ type }) => type === 'tool')).toHaveLength(history.filter(({ role }) => role === 'tool').length)
        const shown = [...lines(after), ...after.waiting.map((one) => one.text)].join('\n')
        for (const one of events) if (one.type === 'event' && one.frame.event === 'session.message') expect(shown).toContain(one.frame.payload.text)
        expect(after.stale).toBe(false)
      }),
      casesOf(import.meta.url),
    )
  })

  test('patches in any order, any of them twice, are the same conversation, or ask to subscribe again and then are', () => {
    const case_ = fc.array(fc.array(words, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 }).chain((growths) => {
      let content: ChatBlock[] = []
      const actions: ChatAction[] = growths.map((growth, place) => {
        const last = content.at(-1)
        const offset = last?.type === 'text' ? last.text.length : 0
        const block = Math.max(0, content.length - 1)
        const [first = '', ...rest] = growth
        const blocks = [text(first, `u1:${block + 1}`), ...rest.map((more, nth) => text(more, `u1:${block + nth + 2}`))]
        const start = last?.type === 'text' ? last.text : ''
        content = [...content.slice(0, block), { ...(blocks[0] as ChatBlock), text: start + first } as ChatBlock, ...blocks.slice(1)]
        return chat(place + 1, blocks, { from: { block, offset } })
      })
      return fc.record({ whole: fc.constant(content), actions: fc.constant(actions), anyhow: shuffled(actions) })
    })
    fc.assert(
      fc.property(case_, ({ whole, actions, anyhow }) => {
        const answer = (view: ChatView) => lines(view).join()
        const there = answer(aPage(chat(1, whole)))
        expect(answer(aPage(...actions))).toBe(there)
        const view = aPage(...anyhow)
        const cured = view.stale
          ? fold(
              [
                subscribed({
                  runId: 'u1',
                  sessionKey: 'main',
                  seq: actions.length,
                  state: 'delta',
                  message: { role: 'assistant', content: whole, timestamp: 1 },
                }),
              ],
              view,
            )
          : view

        expect(cured.stale).toBe(false)
        expect(answer(cured)).toBe(there)
      }),
      casesOf(import.meta.url),
    )
  })
})

test('what has not changed is the same object, in a conversation of 2,000 messages and an answer of 100 deltas', () => {
  const history: HistoryMessage[] = Array.from({ length: 1_000 }, (_, n): HistoryMessage[] => [
    { role: 'user', id: `m${n}`, text: `question ${n}` },
    { role: 'assistant', id: `m${n}:1`, text: `answer ${n}`, calls: [] },
  ]).flat()
  const start = aPage()
  let view = fold([opened(start, history), message('u1'), chat(1, [thinking('hm'), text('a')])], start)
  const before = view.entries

  for (let seq = 2; seq < 102; seq++) {
    const last = view.entries.at(-1)
    view = viewOf(view, chat(seq, [text('a')], { from: { block: 1, offset: seq - 1 } }))
    expect(view.entries.at(-1)).not.toBe(last)
  }
  const [answer, old] = [view.entries.at(-1), before.at(-1)]

  expect(view.entries.slice(0, -1).every((entry, place) => entry === before[place])).toBe(true)
  expect(answer?.type === 'answer' && old?.type === 'answer' && answer.blocks[0] === old.blocks[0]).toBe(true)
  expect(lines(view).at(-1)).toBe(`running: (hm) ${'a'.repeat(101)}`)

  const again = viewOf(view, opened(view, structuredClone(history)))
  expect(again.entries.every((entry, place) => entry === view.entries[place])).toBe(true)
  expect(again.entries).toBe(view.entries)
})
