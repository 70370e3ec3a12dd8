/** What a model says to users in one message, while it is being written: without reasoning, tags, directives and tokens (OC-67, 75, 78, 79). */
import type { FullDelivery } from '../../contracts/channel.ts'
import type { References } from '../../contracts/references.ts'
import { type Directed, modelDirectives } from './model-directives.rules.ts'
import { partialText, withoutTokens } from './silent-tokens.rules.ts'
import { visibleText } from './visible-text.rules.ts'

/** A text that may yet turn out to be a token is held back until it is this long. */
const openingMax = 200

export class DirectiveStream {
  readonly #tokens: FullDelivery['tokens']
  readonly #visible: ReturnType<typeof visibleText>
  readonly #directives: ReturnType<typeof modelDirectives>
  /** The beginning, until it is known whether it is a token. */
  #opening: string | undefined = ''
  #silent = false

  constructor({ tokens, finalOnly }: Pick<FullDelivery, 'tokens' | 'finalOnly'>, messageId: string | undefined) {
    this.#tokens = tokens
    this.#visible = visibleText({ finalOnly })
    this.#directives = modelDirectives(messageId === undefined ? {} : { messageId })
  }

  /** The reasoning that stood in tags within the text. */
  get reasoning(): string {
    return this.#visible.reasoning
  }

  /** @returns what became visible, a line each, so that files keep their places in the text */
  push(delta: string): Directed[] {
    return this.#lines(this.#visible.push(delta)).map((directed) => this.#letThrough(directed))
  }

  /** @param references what the text refers to */
  end(references?: References): Directed[] {
    const [last, ...before] = [...this.#lines(this.#visible.end()), this.#directives.end(references)].reverse()
    return [...before.reverse().map((directed) => this.#letThrough(directed)), ...(last ? [this.#letThrough(last, true)] : [])]
  }

  #lines(text: string): Directed[] {
    return text === '' ? [] : text.split(/(?<=\n)/).map((line) => this.#directives.push(line))
  }

  #letThrough(directed: Directed, ended = false): Directed {
    return { ...directed, text: this.#shown(directed.text, ended) }
  }

  #shown(text: string, ended: boolean): string {
    if (this.#silent) return ''
    if (this.#opening === undefined) return text
    const opening = this.#opening + text
    const begun = partialText(opening, this.#tokens) !== ''
    if (!begun && !ended && opening.length <= openingMax) {
      this.#opening = opening
      return ''
    }
    this.#opening = undefined
    this.#silent = !begun && withoutTokens({ text: opening }, this.#tokens).payload === undefined
    return this.#silent ? '' : opening
  }
}
