/** The client and the view together, as a page uses them, against a gateway that forgets nobody's words. */
import { expect, test, vi } from 'vitest'
import {
  type ChatAction,
  type ChatView,
  emptyView,
  type HistoryMessage,
  type SocketClient,
  socketClient,
  viewOf,
} from '../../../src/client/socket/index.ts'
import { isRuntimeError } from '../../../src/contracts/errors.ts'
import { virtualClock } from '../../../src/testing/virtual-clock.ts'
import { chatEvent, lines, text } from './a-chat.ts'
import { aSocketGateway, type SocketGateway, token } from './a-socket-gateway.ts'

/** It reads the history when that is wanted, and sends again what was not sent. */
class Page {
  view: ChatView = emptyView('main')
  readonly #client: SocketClient

  constructor(client: SocketClient) {
    this.#client = client
    client.onStatus((status) => this.#take(status === 'ready' ? { type: 'connected' } : { type: 'disconnected' }))
    client.subscribe('main', (heard) => this.#take(heard))
  }

  say(id: string, words: string): void {
    this.#take({ type: 'said', id, text: words, at: 1 })
    if (this.view.connected) this.#send(id, words)
  }

  #take(action: ChatAction): void {
    const { connected } = this.view
    this.view = viewOf(this.view, action)
    if (this.view.connected && !connected) {
      this.#read()
      for (const { id, status, text: words = '' } of this.view.waiting) if (status === 'unsent') this.say(id, words)
    }
  }

  #read(): void {
    const { life } = this.view
    this.#client.call<{ messages: HistoryMessage[] }>('chat.history', { sessionKey: 'main' }).then(
      ({ messages }) => this.#take({ type: 'opened', sessionKey: 'main', life, messages }),
      (error) => expect(isRuntimeError(error) && error.retryable).toBe(true),
    )
  }

  #send(id: string, words: string): void {
    this.#client.call<{ status: string; runId: string }>('chat.send', { sessionKey: 'main', message: words, idempotencyKey: id }).then(
      (answer) => this.#take({ type: 'taken', id, ...answer }),
      (error) => this.#take({ type: 'refused', id, error }),
    )
  }
}

/** What a session would have taken in, once each. */
const withSession = (gateway: SocketGateway, history: HistoryMessage[]): void => {
  gateway.answers['chat.history'] = () => ({ messages: [...history] })
  gateway.answers['chat.send'] = ({ idempotencyKey, message }) => {
    const id = idempotencyKey as string
    const isKnown = history.some((one) => one.role === 'user' && one.id === id)
    if (!isKnown)
      history.push({ role: 'user', id, text: message as string }, { role: 'assistant', id: `${id}:1`, text: `re: ${message as string}`, calls: [] })
    return { id, runId: id, status: isKnown ? 'duplicate' : 'started' }
  }
}

const aPage = (gateway: SocketGateway) => {
  const clock = virtualClock()
  const client = socketClient({ url: gateway.url, token, client: { name: 'page' }, clock, signals: () => () => undefined })
  return { client, clock, page: new Page(client) }
}

test('[CH-07] after an outage of 3 s all messages are shown: those that were missed, and those that were said meanwhile, once each', async () => {
  await using gateway = await aSocketGateway()
  const history: HistoryMessage[] = [{ role: 'user', id: 'u0', text: 'hello' }]
  withSession(gateway, history)
  const { client, clock, page } = aPage(gateway)
  await client.ready()
  await vi.waitFor(() => expect(lines(page.view)).toEqual(['user: hello']))
  // Its answer is lost with the connection.
  gateway.answers['chat.send'] = ((taken) => (params) => (taken?.(params), gateway.cut(), new Promise(() => undefined)))(gateway.answers['chat.send'])
  page.say('u1', 'on the way')

  await vi.waitFor(() => expect(page.view.waiting).toMatchObject([{ id: 'u1', status: 'unsent' }]))
  await gateway.stop()
  page.say('u2', 'in the dark')
  history.push({ role: 'user', id: 'u9', text: 'of somebody else' })
  withSession(gateway, history)
  await clock.advance(500)
  await vi.waitFor(() => expect(client.status).toBe('waiting'))
  await gateway.start()
  await clock.advance(2_000)
  await client.ready()

  await vi.waitFor(() => expect(lines(page.view)).toHaveLength(6))
  expect(lines(page.view).slice(0, 4)).toEqual(['user: hello', 'user: on the way', 'completed: re: on the way', 'user: of somebody else'])
  expect(lines(page.view)[4]).toBe('user: in the dark')
  expect(page.view.waiting).toEqual([])
  client.close()
})

test('[CH-83] what is heard before the answer to sending belongs to it', async () => {
  await using gateway = await aSocketGateway()
  withSession(gateway, [])
  const { client, page } = aPage(gateway)
  await client.ready()
  await vi.waitFor(() => expect(page.view.history).toBe('read'))
  const late = Promise.withResolvers<unknown>()
  gateway.answers['chat.send'] = () => {
    gateway.tell('chat', chatEvent(1, [text('quick')]))
    return late.promise
  }

  page.say('u1', 'hello')
  await vi.waitFor(() => expect(lines(page.view)).toEqual(['user: hello', 'running: quick']))
  late.resolve({ id: 'u1', runId: 'u1', status: 'started' })
  gateway.tell('chat', chatEvent(2, undefined, { state: 'final' }))

  await vi.waitFor(() => expect(lines(page.view)).toEqual(['user: hello', 'completed: quick']))
  await vi.waitFor(() => expect(page.view.busy).toBe(false))
  client.close()
})
