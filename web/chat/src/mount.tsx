/** Puts the page into an element; what it shows and does is the model's. Answers how to take it away again. */
import { render } from 'preact'
import { App } from './app.tsx'
import { ModelProvider } from './hooks.ts'
import type { ChatModel } from './model.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/side.css'
import './styles/log.css'
import './styles/prose.css'
import './styles/cards.css'
import './styles/composer.css'
import './styles/asides.css'
import './styles/floating.css'
import './styles/narrow.css'

export const mount = (root: HTMLElement, model: ChatModel): (() => void) => {
  render(
    <ModelProvider value={model}>
      <App />
    </ModelProvider>,
    root,
  )
  return () => render(null, root)
}
