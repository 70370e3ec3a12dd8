import { expect, test } from 'vitest'
import type { Message } from '../../../src/contracts/message.ts'
import { sideMessage, unansweredText } from '../../../src/machines/side/side.rules.ts'

const user = (text: string): Message => ({ role: 'user', id: text, text })

test('[CH-81] the conversation and the question are one message of the user, calls of tools and half a turn among it', () => {
  const messages: Message[] = [
    user('go'),
    { role: 'assistant', id: 'a:1', text: 'I look.', calls: [{ callId: 'c', name: 'look', input: { at: 1 } }] },
  ]
  expect(sideMessage(messages, { id: 'b', question: 'why?' })).toEqual({
    role: 'user',
    id: 'b',
    text: 'The conversation so far:\n\nUser: go\n\nAssistant: I look.\n  called look with {"at":1}\n\n---\nThe side question:\nwhy?',
  })
  expect(sideMessage([], { id: 'b', question: 'why?' }).text).toContain('Nothing was said')
})

test('[CH-81] of a long one the newest part is shown, as much as half of what the model can read', () => {
  const long = Array.from({ length: 20 }, (_, nth) => user(`${nth} ${'x'.repeat(1_000)}`))
  const { text } = sideMessage(long, { id: 'b', question: 'why?', window: 2_500 })
  expect(text.length).toBeLessThan(5_200)
  expect(text).toContain('(what was said before is left out)\n\nUser: 16 ')
  expect(text).toContain('User: 19 ')
})

test('[CH-81] people are told in words why there is no answer', () => {
  expect(unansweredText({ code: 'provider_rate_limit', message: '429', retryable: true })).toContain('Ask again in a minute')
  expect(unansweredText({ code: 'internal', message: 'a defect', retryable: false })).toBe('It was not answered: a defect.')
})
