/** Chat in a terminal: answers stream in while the person types on, steers, decides and stops. */

import { cleanText, parseModelDirectives, shownStream } from '../../chat/index.ts'
import { type Client, saidSince } from '../../client/index.ts'
import { silenceText } from '../../contracts/approval.rules.ts'
import { definedOf } from '../../contracts/defined.ts'
import { errorBody } from '../../contracts/errors.ts'
import type { References } from '../../contracts/references.ts'
import type { Payload } from '../../contracts/reply.ts'
import type { Approval } from '../../contracts/turn.ts'
import { type RunEvent, TurnText } from '../../runtime/index.ts'
import { approvalQuestion, progressText } from '../cards.ts'
import { isDirective, originHere } from '../directives.ts'
import { resumeSession, sessionOf } from '../follow.ts'
import type { ChatOptions } from '../globals.ts'
import { dim as dimmed, exitCodes, printable, stateText } from '../output.ts'
import { goesOn, withBreaks } from './keys.rules.ts'
import { Screen, type Terminal } from './screen.ts'

const help = [
  'Type to talk; what you say while an answer is coming joins the turn that is running.',
  'Alt-Enter, Shift-Enter or \\ before Enter begins another line of the message; a paste is one message.',
  '/stop  stops the turn, what was said is kept      Ctrl-C  the same; once more leaves',
  '/quit  leaves (also Ctrl-D)                       /help   this',
  '/btw QUESTION asks beside the conversation, also while an answer is coming: nothing of it is kept',
  '/new or /reset starts over, /compact shortens the history, /status shows the settings, /context the parts of the prompt, /whoami who you are,',
  '/skills what else can be called, /approve CODE once|always|deny decides a call; also /think LEVEL, /model NAME, /queue MODE, /verbose on|full|off,',
  '/reasoning on|off, /elevated on|off, /usage tokens|full|off, /send on|off: alone for the conversation, within a message for that message',
]

/** Ours; all others are for the session. */
const local = new Set(['/quit', '/exit', '/help'])
/** A turn as its users get it, of which what streams by is shown. @param references what its directives refer to, known at its end */
const turnText = (references: () => References | undefined, shown: readonly string[] = []): TurnText =>
  new TurnText(
    {
      filter: () => shownStream(references),
      asTold: (text) => parseModelDirectives(cleanText(text), definedOf({ references: references() })).text.trim(),
    },
    shown,
  )
/** Where a file is to be found is all of it that can be printed. */
const shownPayload = ({ text = '', media = [] }: Payload): string[] => [text, ...media]

export const chatInTerminal = async (client: Client, options: ChatOptions, terminal: Terminal): Promise<number> => {
  const subscription = await client.events(options.session)
  const talk = new Talk(client, options, terminal)
  const listen = async () => {
    for await (const event of subscription.events)
      if (event.type === 'restart') talk.restart()
      else talk.hear(event as unknown as RunEvent)
    talk.lost()
  }
  try {
    await talk.begin()
    // What has happened since then waits: it comes behind what was said before.
    void listen()
    return await talk.ended
  } finally {
    subscription.stop()
  }
}

class Talk {
  readonly #client: Client
  readonly #options: ChatOptions
  readonly #screen: Screen
  readonly #dim: (text: string) => string
  readonly #end = Promise.withResolvers<number>()
  readonly #approvals: Approval[] = []
  /** One after another, so that messages arrive in the order in which they were typed. */
  #sending: Promise<void> = Promise.resolve()
  /** The turn that is running; directives are answered beside it. */
  #run: string | undefined
  #interrupts = 0
  /** Lines of a message that goes on. */
  #lines = ''
  #references: References | undefined
  #heard = turnText(() => this.#references)

  constructor(client: Client, options: ChatOptions, terminal: Terminal) {
    this.#client = client
    this.#options = options
    this.#screen = new Screen(terminal)
    this.#dim = (text) => dimmed(text, terminal.output as { isTTY?: boolean })
    const { prompt } = this.#screen
    prompt.on('line', (line) => this.#take(line))
    prompt.on('SIGINT', () => this.#interrupt())
    prompt.on('close', () => this.#end.resolve(exitCodes.fine))
  }

  get ended(): Promise<number> {
    return this.#end.promise
  }

  async begin(): Promise<void> {
    const { session } = this.#options
    const where = this.#client.url === undefined ? 'in this process' : `at ${this.#client.url}`
    this.#screen.line(this.#dim(`conversation '${printable(session)}' ${where}; /help says what you can do`))
    const view = await sessionOf(this.#client, session)
    if (view === undefined) return
    this.#run = view.run?.runId
    if (view.run) await this.#join(view.run.ids, view.state)
    for (const approval of view.approvals) this.#ask(approval)
    this.#do(() => resumeSession(this.#client, session, view))
  }

  /** What a turn has said already comes first, as in the conversation. */
  async #join(ids: readonly string[], state: unknown): Promise<void> {
    const texts = await saidSince(this.#client, this.#options.session, ids)
    this.#heard = turnText(() => this.#references, texts)
    this.#screen.line(this.#dim(`(a turn is running: ${stateText(state)})`))
    for (const text of texts) this.#screen.line(printable(cleanText(text), 'lines'))
  }

  hear(event: RunEvent): void {
    const screen = this.#screen
    switch (event.type) {
      case 'accepted':
        if (event.status === 'steered') screen.line(this.#dim('  (joins the turn that is running)'))
        else if (event.status === 'queued' || event.status === 'collected') screen.line(this.#dim('  (waits for its turn)'))
        break
      case 'started':
        this.#run = event.runId
        this.#references = undefined
        this.#heard = turnText(() => this.#references)
        break
      case 'delta':
        this.#stream(event)
        break
      case 'tool':
      case 'retry':
      case 'fallback':
        screen.line(this.#dim(progressText(event) ?? ''))
        break
      case 'approval':
        this.#ask(event)
        break
      case 'decided':
        this.#forget(event.callId)
        break
      case 'compacted':
        screen.line(this.#dim('  (older history was summarised)'))
        break
      case 'notice':
        screen.line(printable(event.text, 'lines'))
        break
      case 'reset':
        screen.line(this.#dim(`  (the conversation starts over: ${printable(event.reason)})`))
        break
      case 'final':
      case 'error':
      case 'aborted':
        // What was asked beside the conversation has been told by then.
        if (!event.side) this.#finish(event)
        break
      case 'side_result':
        this.#tellAside(event)
        break
      default:
    }
  }

  /** The conversation was deleted: none of what we know of it is true any more. */
  restart(): void {
    this.#run = undefined
    this.#approvals.length = 0
    this.#screen.endStream()
    this.#screen.line(this.#dim('  (the conversation was deleted and starts over)'))
  }

  /** The node is gone; without anybody having asked for it. */
  lost(): void {
    this.#screen.line('error: the connection to the node has ended\nhint: start it again; what it accepted continues')
    this.#leave(exitCodes.failed)
  }

  #stream(delta: Extract<RunEvent, { type: 'delta' }>): void {
    const { rest, begins, text } = this.#heard.take(delta)
    this.#screen.stream(printable(rest, 'lines'))
    if (begins) this.#screen.endStream()
    this.#screen.stream(printable(text, 'lines'))
  }

  #tellAside({ question, text, isError }: Extract<RunEvent, { type: 'side_result' }>): void {
    this.#screen.line(this.#dim(`  (beside the conversation${question === undefined ? '' : `: ${printable(question)}`})`))
    this.#screen.line(isError ? this.#dim(`  ${printable(text, 'lines')}`) : printable(text, 'lines'))
  }

  #finish(event: Extract<RunEvent, { type: 'final' | 'error' | 'aborted' }>): void {
    if (event.runId === this.#run) this.#references = event.references
    this.#screen.stream(printable(this.#heard.end(), 'lines'))
    this.#screen.endStream()
    for (const text of this.#unsaid(event)) this.#screen.line(printable(text, 'lines'))
    if (event.type === 'aborted') this.#screen.line(this.#dim('  (stopped)'))
    if (event.type === 'error') this.#complain(event.error)
    if (event.runId !== this.#run) return
    this.#run = undefined
    this.#interrupts = 0
    this.#approvals.length = 0
  }

  /** What users get and what did not stream by: notices, lines below the answer, what was lost on the way. */
  #unsaid({ runId, text, reply, error }: Extract<RunEvent, { type: 'final' | 'error' | 'aborted' }>): string[] {
    const texts = reply === undefined || error ? [text] : [reply].flat().flatMap(shownPayload)
    const missing = runId === this.#run ? this.#heard.missing(texts) : texts.map((text) => ({ text, continues: false }))
    return missing.flatMap((one) => (one.text === '' ? [] : [one.continues ? one.text.trim() : one.text]))
  }

  #take(line: string): void {
    this.#interrupts = 0
    const typed = this.#lines + withBreaks(line)
    if (goesOn(typed)) {
      this.#lines = `${typed.slice(0, -1)}\n`
      this.#screen.goOn(true)
      return
    }
    if (this.#lines !== '') this.#screen.goOn(false)
    this.#lines = ''
    const text = typed.trim()
    const [approval] = this.#approvals
    if (approval && /^(y|yes|n|no)$/i.test(text)) this.#decide(approval, /^y/i.test(text) ? 'approve' : 'deny')
    else if (/^\/[a-z]+$/.test(text) && (local.has(text) || !isDirective(text))) this.#runLocal(text)
    else if (text !== '') this.#say(typed)
    else if (approval) this.#ask(approval, true)
    this.#screen.flush()
  }

  #runLocal(command: string): void {
    if (command === '/quit' || command === '/exit') this.#leave(exitCodes.fine)
    else if (command === '/help') for (const line of help) this.#screen.line(this.#dim(line))
    else this.#screen.line(`error: there is no command ${command}\nhint: /help lists them; to say it, put something before it`)
  }

  #say(message: string): void {
    const { session: sessionKey, agent, model } = this.#options
    this.#do(() => this.#client.command('chat.send', { sessionKey, message, origin: originHere(sessionKey), agent, model }))
  }

  #stop(): void {
    this.#do(() => this.#client.command('chat.abort', { sessionKey: this.#options.session }))
  }

  #ask(approval: Approval, again = false): void {
    if (!again && this.#approvals.some(({ callId }) => callId === approval.callId)) return
    if (!again) this.#approvals.push(approval)
    if (this.#approvals[0]?.callId === approval.callId)
      this.#screen.line(`? ${approvalQuestion(approval)} (${['y/n', silenceText(approval, Date.now())].filter(Boolean).join('; ')})`)
  }

  #forget(callId: string): void {
    const at = this.#approvals.findIndex((approval) => approval.callId === callId)
    if (at >= 0) this.#approvals.splice(at, 1)
    if (at === 0 && this.#approvals[0]) this.#ask(this.#approvals[0], true)
  }

  #decide({ callId, inputHash, attempt }: Approval, decision: 'approve' | 'deny'): void {
    this.#do(() =>
      this.#client.command('approvals.resolve', { sessionKey: this.#options.session, callId, inputHash, attempt, decision, by: 'terminal' }),
    )
    this.#forget(callId)
  }

  #do(work: () => Promise<unknown>): void {
    this.#sending = this.#sending.then(work).then(
      () => undefined,
      (error: unknown) => this.#complain(error),
    )
  }

  #complain(error: unknown): void {
    const { message, code, hint } = isBody(error) ? error : errorBody(error)
    this.#screen.line(`error: ${printable(message)} [${code}]${hint ? `\nhint: ${printable(hint)}` : ''}`)
  }

  #interrupt(): void {
    if (this.#lines !== '') this.#screen.goOn(false)
    this.#lines = ''
    if (++this.#interrupts > 1) {
      this.#leave(exitCodes.interrupted)
      return
    }
    if (this.#run !== undefined) this.#stop()
    this.#screen.line(this.#dim(this.#run !== undefined ? '  (stopping; Ctrl-C again leaves)' : '  (Ctrl-C again leaves)'))
  }

  #leave(code: number): void {
    this.#end.resolve(code)
    this.#screen.close()
  }
}

const isBody = (error: unknown): error is { message: string; code: string; hint?: string } =>
  typeof error === 'object' && error !== null && !(error instanceof Error) && 'code' in error && 'message' in error
