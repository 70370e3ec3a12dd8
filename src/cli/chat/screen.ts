/** A terminal with a prompt at the bottom, where output comes while somebody may be typing. */
import { clearLine, createInterface, cursorTo, type Interface } from 'node:readline'
import { keyInput } from './key-input.ts'

export type Terminal = { input: NodeJS.ReadableStream; output: NodeJS.WritableStream }

/**
 * Streams text as it comes. While there is something in the prompt output is held back, so that nobody's words are torn apart; it follows as
 * soon as the line is sent or empty again.
 */
export class Screen {
  readonly prompt: Interface
  readonly #output: NodeJS.WritableStream
  /** Streamed text stands on the line where the prompt would be. */
  #open = false
  #held: (() => void)[] = []
  #closed = false
  readonly #prompt: string

  constructor({ input: raw, output }: Terminal, prompt = '› ') {
    this.#output = output
    this.#prompt = prompt
    const input = keyInput(raw)
    const before = new Set(output.listeners('resize'))
    this.prompt = createInterface({ input, output, prompt, terminal: true, historySize: 200 })
    // Readline draws its line anew where it believes the cursor to be: on a line that is streamed it would overwrite words.
    for (const redraw of output.listeners('resize'))
      if (!before.has(redraw)) {
        output.off('resize', redraw as () => void)
        const onResize = () => this.#open || this.#closed || redraw.call(output)
        output.on('resize', onResize)
        this.prompt.once('close', () => output.off('resize', onResize))
      }
    // The terminal says where a paste begins and ends: its lines are one message.
    const pastes = (word: string): void => void ((output as { isTTY?: boolean }).isTTY && output.write(`\x1b[?2004${word}`))
    pastes('h')
    this.prompt.once('close', () => {
      this.#closed = true
      raw.unpipe(input)
      raw.pause()
      pastes('l')
    })
    // Before readline writes the first letter: it would land in the streamed line.
    input.prependListener('keypress', () => {
      if (!this.#open || this.#closed) return
      this.#open = false
      this.#output.write('\n')
      this.prompt.prompt(true)
    })
  }

  /** @param isOpen the message goes on in the next line */
  goOn(isOpen: boolean): void {
    this.prompt.setPrompt(isOpen ? '… ' : this.#prompt)
    if (isOpen) this.#ready()
  }

  /** A line of its own. */
  line(text: string): void {
    this.#show(() => {
      this.#makeRoom()
      this.#output.write(`${text}\n`)
      this.#ready()
    })
  }

  /** A piece of text that goes on from the piece before. */
  stream(text: string): void {
    if (text === '') return
    this.#show(() => {
      if (!this.#open) this.#clear()
      this.#output.write(text)
      this.#open = true
    })
  }

  /** The streamed text is complete. */
  endStream(): void {
    this.#show(() => {
      if (!this.#open) return
      this.#makeRoom()
      this.#ready()
    })
  }

  /** Writes what was held back; to be called when a line was sent. */
  flush(): void {
    for (const write of this.#held.splice(0)) write()
    if (!this.#open) this.#ready()
  }

  close(): void {
    if (this.#open) this.#output.write('\n')
    this.#open = false
    this.prompt.close()
  }

  #show(write: () => void): void {
    if (this.#closed) return
    if (this.prompt.line.length > 0) this.#held.push(write)
    else {
      for (const held of this.#held.splice(0)) held()
      write()
    }
  }

  #makeRoom(): void {
    if (this.#open) this.#output.write('\n')
    else this.#clear()
    this.#open = false
  }

  #clear(): void {
    clearLine(this.#output, 0)
    cursorTo(this.#output, 0)
  }

  #ready(): void {
    if (!this.#closed) this.prompt.prompt(true)
  }
}
