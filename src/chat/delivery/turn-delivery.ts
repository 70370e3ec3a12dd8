/** One turn's answer on its way: hears what the model says, and obeys what the machine of the pipeline decides. */
import { type Channel, type DeliveryOutput, deliveryDefaults, type FullDelivery } from '../../contracts/channel.ts'
import type { Clock, Logger } from '../../contracts/environment.ts'
import { errorBody } from '../../contracts/errors.ts'
import type { AnyEvent } from '../../contracts/journal.ts'
import type { Payload } from '../../contracts/reply.ts'
import { escapeToken } from '../../contracts/subjects.ts'
import { Blocks } from './block-stream.ts'
import { finalsLeft, payloadKey } from './blocks.rules.ts'
import { decorateBlock } from './decorate.rules.ts'
import type { Delivered, DeliverInput, DeliverOrder, DeliverReport, Finish } from './delivery.context.ts'
import { Hearing } from './delta-reader.ts'
import { Spoken } from './directive-stream.ts'
import { Dispatcher } from './dispatcher.ts'
import { type Draft, showDraft } from './draft.ts'
import type { Directed } from './model-directives.rules.ts'
import { shaped } from './payload.ts'
import { Unsaid } from './resume-text.ts'
import { limited } from './settings.rules.ts'
import { newThreading, threadAll } from './threading.rules.ts'
import { showTyping, type Typing } from './typing.effects.ts'

type DeliveringParts = {
  input: DeliverInput
  channel: Channel | undefined
  clock: Clock
  random: () => number
  log: Logger
  report: (report: DeliverReport) => void
  emit: (event: DeliveryOutput | AnyEvent) => void
}

/** A message of the model that is being written. */
type Open = { hearing: Hearing; spoken: Spoken }

export class Delivering {
  readonly #parts: DeliveringParts
  readonly #delivery: FullDelivery
  readonly #dispatcher: Dispatcher
  readonly #typing: Typing
  readonly #draft: Draft
  /** Without streaming there are none. */
  readonly #blocks: Blocks | undefined
  readonly #unsaid = new Unsaid((said) => this.#dispatcher.again(said))
  readonly #toolMessages = new Map<string, number>()
  #recalled: Delivered[] = []
  #open: Open | undefined
  /** What stands before each block. */
  #prefix: string | undefined
  /** The highest number of an attempt that was heard. */
  #attemptLast = 0
  /** Nothing of what the model said got lost on its way to here. */
  #heardAll = true
  /** What is obeyed now was said to a process that crashed: the deltas to it are gone. */
  replaying = false
  #over = false

  constructor(parts: DeliveringParts) {
    this.#parts = { ...parts, emit: (event) => void (this.#over || parts.emit(event)), report: (report) => void (this.#over || parts.report(report)) }
    const { input, channel, clock, random, log } = parts
    const { session, runId, route, messageId } = input
    const { emit, report } = this.#parts
    this.#delivery = limited(deliveryDefaults(input.delivery), channel?.textMax ?? Number.MAX_SAFE_INTEGER)
    const delivery = this.#delivery
    this.#typing = showTyping({ channel, route, runId, typing: delivery.typing, clock, log, emit })
    this.#draft = showDraft({ channel, route, delivery })
    // People choose the ids of their messages: none may be that of another one with something behind it.
    const name = [escapeToken(session), encodeURIComponent(runId), ...(input.aside === undefined ? [] : [input.aside])].join('/')
    const working = (busy: boolean) => this.#typing.tell(busy ? 'dispatcher.busy' : 'dispatcher.idle')
    this.#dispatcher = new Dispatcher({ channel, route, delivery, messageId, runId, name, clock, random, log, report, emit, working })
    this.#blocks = delivery.streaming ? new Blocks(delivery, clock, (payload) => this.#sendBlock(payload)) : undefined
    if (!channel) log.error({ channel: route.channel, runId }, 'there is no such channel: an answer cannot be delivered')
  }

  /** @param known what had arrived before a crash */
  begin(known: Delivered[]): void {
    this.#recalled = known.filter(({ kind }) => kind === 'block')
    this.#dispatcher.recall(known)
    this.#typing.tell('run.start')
  }

  obey(order: DeliverOrder): void {
    if (this.#over) return
    if (order.type === 'delivery.start') this.#start(order.attempt, order.prefix)
    if (order.type === 'delivery.end') this.#end(order.text)
    if (order.type === 'delivery.tool') this.#tool(order.callId, order.payload)
    if (order.type === 'delivery.finish')
      this.#finish(order).catch((error: unknown) => {
        this.#parts.log.error({ runId: this.#parts.input.runId, error: errorBody(error) }, 'an answer could not be delivered to its end')
        this.#report(true)
      })
    if (order.type === 'broken') this.#dispatcher.aborted = true
    if (order.type === 'delivery.abort') {
      this.#typing.tell('cleanup')
      this.#report(true)
    }
  }

  /** Takes something that was said in the session. */
  hear(event: AnyEvent): void {
    if (this.#over || event.runId !== this.#parts.input.runId) return
    if (event.type === 'tool' && event.phase === 'progress') this.#typing.tell('tool')
    if (event.type !== 'delta' || !this.#open) return
    const heard = this.#open.hearing.take(event)
    if (!heard) return
    if (heard.anew) this.#anew()
    this.#attemptLast = Math.max(this.#attemptLast, heard.attempt)
    if (heard.kind === 'reasoning') this.#reason(heard.text)
    else this.#speak(this.#open.spoken, heard.text)
  }

  /** Ends it without a word. */
  stop(): void {
    this.#over = true
    this.#typing.stop()
    this.#draft.stop()
    this.#blocks?.stop()
    this.#dispatcher.stop()
  }

  #start(attempt: number, prefix: string | undefined): void {
    this.#typing.tell('message.start')
    if (this.#open) this.#anew()
    else {
      this.#blocks?.begin()
      this.#dispatcher.endMessage()
      this.#draft.begin()
    }
    this.#open = { hearing: new Hearing(Math.max(attempt, this.#attemptLast + 1)), spoken: this.#newSpoken() }
    this.#prefix = prefix
    this.#unsaid.expect(this.#recalled.splice(0).map(({ key }) => ({ key, text: textOf(key, prefix) })))
  }

  #newSpoken(): Spoken {
    return new Spoken(this.#delivery, this.#parts.input.messageId)
  }

  /** What was said of the open message does not count any more; what of it was sent need not be said again. */
  #anew(): void {
    this.#blocks?.reset()
    this.#draft.begin()
    this.#unsaid.expect(this.#dispatcher.supersede())
    if (this.#open) this.#open.spoken = this.#newSpoken()
  }

  #end(text: string | undefined): void {
    if (!this.#open) return
    const { hearing } = this.#open
    const missing = text === undefined ? '' : hearing.missing(text)
    if (text === undefined) this.#heardAll &&= hearing.whole && !this.replaying
    // What was streamed is not how it ended: it is said from the beginning.
    if (missing === undefined) this.#anew()
    this.#speak(this.#open.spoken, missing ?? text ?? '')
    this.#close()
  }

  #close(): void {
    if (!this.#open) return
    for (const line of this.#open.spoken.end()) this.#say(line)
    this.#take({ text: this.#unsaid.end(), media: [] })
    this.#blocks?.drain()
    this.#open = undefined
  }

  #speak(spoken: Spoken, text: string): void {
    const thought = spoken.reasoning
    const lines = spoken.push(text)
    if (spoken.reasoning !== thought) this.#reason(spoken.reasoning.slice(thought.length))
    for (const line of lines) this.#say(line)
  }

  #reason(text: string): void {
    this.#typing.tell('reasoning')
    this.#draft.reason(text)
  }

  #say({ refused, text, ...rest }: Directed): void {
    if (refused.length > 0) this.#parts.log.warn({ runId: this.#parts.input.runId, refused }, 'the model wants files sent that it may not send')
    if (text.trim() !== '') this.#typing.tell('text')
    this.#draft.say(text)
    this.#take({ ...rest, text: this.#blocks ? this.#unsaid.push(text) : text })
  }

  #take(spoken: Omit<Directed, 'refused'>): void {
    this.#blocks?.take(spoken)
  }

  #sendBlock(payload: Payload): void {
    const { tokens } = this.#delivery
    const prefix = this.#prefix
    const decorated = prefix === undefined ? payload : decorateBlock(payload, { tokens, verbose: false, streamed: true, prefix })
    this.#dispatcher.add({ kind: 'block', key: '', payload: decorated })
  }

  #tool(callId: string, payload: Payload | undefined): void {
    this.#blocks?.flush()
    this.#typing.tell('tool')
    const nth = (this.#toolMessages.get(callId) ?? 0) + 1
    if (!payload) return
    this.#toolMessages.set(callId, nth)
    this.#dispatcher.add({ kind: 'tool', key: nth === 1 ? callId : `${callId}.${nth}`, payload })
  }

  async #finish({ leading, payloads, trailing }: Finish): Promise<void> {
    this.#close()
    this.#blocks?.finish()
    await this.#dispatcher.settled()
    if (this.#over) return
    const jobs = [...keyed('leading', leading), ...this.#left(payloads), ...keyed('trailing', trailing)]
    if (jobs.some(({ payload }) => isSeen(shaped(payload, this.#delivery.tokens).payload))) this.#typing.tell('run.start')
    for (const { key, payload } of jobs) this.#dispatcher.add({ kind: 'final', key, payload })
    this.#typing.tell('run.complete')
    await this.#dispatcher.settled()
    this.#report(false)
  }

  /** What of the whole answer was not streamed. That something went wrong is always said. */
  #left(payloads: Payload[]): Keyed[] {
    const { sent, complete, aborted } = this.#dispatcher
    const streamed = { sent, complete: complete && this.#heardAll, aborted }
    const { replyTo: mode, tagsWhenOff, tokens } = this.#delivery
    const { messageId } = this.#parts.input
    const fresh = newThreading({ mode, tagsWhenOff, ...(messageId === undefined ? {} : { messageId }) })
    const threaded = threadAll(
      fresh,
      payloads.map((payload) => shaped(payload, tokens).payload ?? payload),
    ).payloads
    return keyed('final', payloads).filter(({ payload }, place) => {
      const compared = threaded[place] ?? payload
      return payload.error ? !sent.includes(payloadKey(compared)) : finalsLeft(streamed, [compared]).length > 0
    })
  }

  #report(failed: boolean): void {
    // What still waits is lost.
    this.#dispatcher.stop()
    const { counts, failed: sends, lost, aborted, skipped } = this.#dispatcher
    this.#parts.report({ type: 'delivery.finished', counts, failed: sends, lost, aborted: aborted || failed, skipped })
    this.stop()
  }
}

type Keyed = { key: string; payload: Payload }
const keyed = (part: string, payloads: Payload[]): Keyed[] => payloads.map((payload, place) => ({ key: `${part}.${place + 1}`, payload }))

const isSeen = (payload: Payload | undefined): boolean => payload !== undefined && (payload.text !== undefined || (payload.media?.length ?? 0) > 0)

/** What a block says, without what was put before it. */
const textOf = (key: string, prefix = ''): string => {
  const [text = ''] = JSON.parse(key) as [string?]
  return text.startsWith(prefix.trim()) ? text.slice(prefix.trim().length) : text
}
