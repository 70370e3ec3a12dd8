/** Users who write whatever comes to their minds, while the process dies now and then: each message has one outcome, and nothing is left behind. */
import { expect, test } from 'vitest'
import type { SessionCommand } from '../../src/contracts/session.ts'
import { seededRandom } from '../../src/testing/index.ts'
import { expectNothingAlive, story, work, worker } from '../runtime/harness.ts'
import { chooseSeeds } from '../support/seeds.ts'
import { ann, eventsOf, expectReplay, listener, newest, restart } from './stage.ts'

const modes = ['steer', 'followup', 'collect', 'interrupt'] as const
const words = ['hello', 'use a tool', 'fail', 'flood', '/status hi', 'hi /think:high']
const orders = [
  '/think high',
  '/status',
  '/usage',
  '/queue',
  '/queue collect',
  '/queue default',
  '/verbose on',
  'stop',
  '/new',
  '/new hello',
  '/compact',
]
const commands: SessionCommand[] = [{ type: 'clear' }, { type: 'cancel' }, { type: 'reset' }, { type: 'compact', instructions: 'be short' }]
const pauses = [10, 60, 130, 300, 600, 2000]

const { seed: first, cases } = chooseSeeds(import.meta.url)

test.each(Array.from({ length: cases }, (_, index) => first + index))('[OC-01, OC-04, OC-21] a random afternoon, seed %d', async (seed) => {
  const random = seededRandom(seed)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)] as Item
  const { script } = listener((request) => {
    if (request.instructions.startsWith('You shorten')) return { text: 'SUMMARY', delayMs: 300 }
    if (newest(request).includes('tool') && request.messages.at(-1)?.role !== 'tool') return { text: 'I try', calls: [work('x', 120)] }
    if (newest(request).includes('fail')) return { error: { code: 'provider_auth' } }
    if (newest(request).includes('flood')) return { error: { code: 'provider_overflow' } }
    return { text: `saw ${request.messages.length}`, deltaDelayMs: 20, usage: { inputTokens: 5 } }
  })
  await using told = await story(script, {
    tools: (world) => [worker()(world)],
    queueMode: pick(modes),
    queueCap: pick([2, 20]),
    queueDrop: pick(['new', 'old', 'summarize']),
  })

  for (let n = 1; n <= 25; n++) {
    const from = ann(`m${n}`, random.next() < 0.2 ? { thread: 't' } : {})
    const what = pick(['word', 'word', 'word', 'wish', 'order', 'order', 'command', 'pause', 'pause', 'crash'])
    // What a full queue refuses, or a session that nobody has written to, is no part of the story.
    if (what === 'word') await told.say(pick(words), from).catch(() => undefined)
    if (what === 'wish') await told.say(pick(words), { ...from, queueMode: pick(modes) }).catch(() => undefined)
    if (what === 'order') await told.say(pick(orders), from)
    if (what === 'command') await told.main.command(pick(commands)).catch(() => undefined)
    if (what === 'pause') await told.clock.advance(pick(pauses))
    if (what === 'crash') await restart(told)
  }
  await told.clock.advance(20_000)
  await told.say('the end', ann('end')).catch(() => undefined)
  await told.quiet()

  const ended = told
    .events('main')
    .flatMap((event) => (event.type === 'final' || event.type === 'error' || event.type === 'aborted' ? event.ids : []))
  expect(ended.toSorted()).toEqual(
    eventsOf(told, 'accepted')
      .map(({ id }) => id)
      .toSorted(),
  )
  const reasons = eventsOf(told, 'error').map(({ error }) => error?.code ?? '')
  expect(reasons.filter((code) => code !== 'provider_auth' && code !== 'provider_overflow')).toEqual([])
  expect(told.log.filter(({ level }) => level === 'error')).toEqual([])
  await expectReplay(told)
  await expectNothingAlive(told)
})
