/** The text of one model call for readers who cannot take back what they were shown: live text is a hint, what the journal holds is the truth. */

/** @property anew it does not go on where the text before it ended */
type Piece = { text: string; anew: boolean }
const nothing: Piece = { text: '', anew: false }

/** The same wherever its spaces and line breaks were cut. */
const flat = (text: string): string => text.replace(/\s+/g, ' ').trim()

export class ShownText {
  /** What readers have of this call. */
  #shown = ''
  /** What the present attempt has said; an attempt that repeats the one before it is not shown twice. */
  #said = ''
  /** Both are the same: so it is nearly always, and comparing long texts for every delta would take time. */
  #level = true

  /** The call is tried again. */
  begin(): void {
    this.#said = ''
    this.#level = this.#shown === ''
  }

  say(text: string): Piece {
    this.#said += text
    if (!this.#level) return this.#catchUp(this.#said)
    this.#shown = this.#said
    return { text, anew: false }
  }

  /** The call is over. @param truth all that it said */
  settle(truth: string): Piece {
    const shown = this.#shown
    const stopped = this.#level && shown.startsWith(truth)
    const piece = stopped || flat(shown) === flat(truth) ? nothing : shown.startsWith(truth) ? { text: truth, anew: true } : this.#catchUp(truth)
    this.#shown = ''
    this.begin()
    return piece
  }

  #catchUp(text: string): Piece {
    const shown = this.#shown
    if (shown.startsWith(text)) {
      this.#level = shown.length === text.length
      return nothing
    }
    this.#shown = text
    this.#level = true
    return text.startsWith(shown) ? { text: text.slice(shown.length), anew: false } : { text, anew: true }
  }
}
