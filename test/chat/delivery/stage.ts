/** One turn whose answer is delivered to a scripted channel: the real statechart and its effect, under virtual time. */
import { createActor, createMachine } from 'xstate'
import type { Counted } from '../../../src/chat/delivery/delivery.context.ts'
import { deliver } from '../../../src/chat/delivery/delivery.effects.ts'
import { type DeliveryEvent, deliveryMachine } from '../../../src/chat/delivery/delivery.machine.ts'
import type { Channel, Delivery } from '../../../src/contracts/channel.ts'
import type { AnyEvent } from '../../../src/contracts/journal.ts'
import { defaultProfile } from '../../../src/contracts/profile.ts'
import type { PublisherInput, PublisherOutput } from '../../../src/contracts/publisher.ts'
import type { Payload } from '../../../src/contracts/reply.ts'
import { type TestChannelOptions, testChannel, virtualClock } from '../../../src/testing/index.ts'
import { seededRandom } from '../../../src/testing/seeded.ts'

/** @property own the channel is not a scripted one @property prefix stands before each message */
type Options = { delivery?: Delivery; messageId?: string; to?: string; prefix?: string } & (
  | { channel?: TestChannelOptions; own?: never }
  | { channel: Channel; own: true }
)

export const stage = ({ delivery = {}, messageId, to = 'test', prefix, ...options }: Options = {}) => {
  const clock = virtualClock()
  const channel = testChannel(clock, options.own ? {} : options.channel)
  const listeners = new Set<(event: AnyEvent) => void>()
  const live: AnyEvent[] = []
  const logged: string[] = []
  const write = (_: object, message = '') => void logged.push(message)
  const effect = deliver({
    channel: (id) => (id === 'test' ? (options.own ? options.channel : channel) : undefined),
    hear: (session, listener) => {
      if (session !== 's') throw new Error(`nobody says anything in ${session}`)
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    clock,
    random: seededRandom(1).next,
    log: { debug: write, info: write, warn: write, error: write },
  })
  // Live output of the effect, as the host tells it to whoever listens to the session.
  const machine = deliveryMachine.provide({ actors: { deliver: effect } })
  const input: PublisherInput = {
    session: 's',
    runId: 'r',
    profile: { ...defaultProfile, agent: 'main', model: 'test/model', ...(prefix === undefined ? {} : { responsePrefix: prefix }) },
    facts: { origin: { channel: to, to: 'ada', ...(messageId ? { messageId } : {}) }, delivery, compactions: 0, at: 0 },
  }
  const turn = createActor(
    createMachine(
      {
        invoke: {
          id: 'publisher',
          src: 'publisher',
          input: () => input as never,
        },
      },
      { actors: { publisher: machine } },
    ),
    {
      inspect: (event) => {
        if (event.type === '@xstate.actor' && (event.actorRef as { id?: string }).id === 'deliver')
          (event.actorRef as { on?(type: '*', listener: (event: AnyEvent) => void): void }).on?.('*', (said) => void live.push(said))
      },
    },
  ).start()
  type Output = Counted & PublisherOutput
  const publisher = turn.getSnapshot().children.publisher as { send(event: AnyEvent): void; getSnapshot(): { value: unknown; output?: Output } }
  let attempt = 0
  let index = 0

  const here = {
    clock,
    channel,
    live,
    logged,
    listeners,
    tell(event: DeliveryEvent) {
      publisher.send(event)
      return here
    },
    /** A call of the model begins. */
    start() {
      index = 0
      return here.tell({ type: 'model.started', attempt: ++attempt, model: 'test/model' })
    },
    /** The model says something, in one delta. */
    say(text: string, kind: 'text' | 'reasoning' = 'text') {
      return here.hear({ type: 'delta', runId: 'r', attempt, index: index++, kind, text })
    },
    /** The model says something, character by character. */
    spell(text: string) {
      for (const one of text) here.say(one)
      return here
    },
    hear(event: AnyEvent) {
      for (const listener of listeners) listener(event)
      return here
    },
    end(text?: string) {
      return here.tell({ type: 'model.ended', text: text as string })
    },
    /** @param name of a tool of which users want to know */
    tool(callId: string, name?: string) {
      here.tell({ type: 'configure', verbose: name === undefined ? 'off' : 'on' })
      return here.tell({ type: 'tool.started', callId, name: name ?? '', input: {} })
    },
    finish(payloads: Payload[] = [], { leading = [], trailing = [] }: { leading?: Payload[]; trailing?: Payload[] } = {}) {
      return here.tell({ type: 'delivery.finish', leading, payloads, trailing })
    },
    /** The host lets go of it. */
    stop() {
      turn.stop()
      return here
    },
    async pass(ms = 0) {
      await clock.advance(ms)
      return here
    },
    /** Lets the turn end, whatever time it takes. */
    async over(): Promise<Output> {
      await clock.until(() => here.output !== undefined, 600_000)
      return here.output as Output
    },
    get state() {
      return publisher.getSnapshot().value
    },
    get output() {
      return publisher.getSnapshot().output
    },
    /** What was sent, as `kind: text`. */
    get sends() {
      return channel.sends.map(({ kind, payload: { text, media } }) => `${kind}: ${text ?? media?.join(' ')}`)
    },
  }
  return here
}

/** So many characters of prose, in words. */
export const words = (length: number, word = 'word'): string => `${`${word} `.repeat(Math.ceil(length / (word.length + 1))).slice(0, length - 1)}.`
