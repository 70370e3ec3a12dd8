/** Formulas, loaded when the first one is to be shown, with the fonts they are set in. */
import { render } from 'katex'
import 'katex/dist/katex.min.css'

/** Draws it into the element. @throws what is wrong with it, and the element stays as it is */
export const drawFormula = (source: string, into: HTMLElement, display: boolean): void => {
  const drawn = document.createElement('span')
  render(source, drawn, { displayMode: display, throwOnError: true, trust: false, strict: 'ignore', maxSize: 20, maxExpand: 500 })
  into.replaceChildren(...drawn.childNodes)
}
