/** Puts the page into an element; what it shows and does is the model's. */
import { render } from 'preact'
import { App } from './app.tsx'
import { ModelProvider } from './hooks.ts'
import type { InspectorModel } from './model.ts'
import '../../chat/src/styles/tokens.css'
import '../../chat/src/styles/base.css'
import './styles/page.css'
import './styles/side.css'
import './styles/stage.css'
import './styles/chart.css'
import './styles/time.css'
import './styles/info.css'
import './styles/dialogs.css'
import './styles/narrow.css'

export const mount = (root: HTMLElement, model: InspectorModel): void => {
  render(
    <ModelProvider value={model}>
      <App />
    </ModelProvider>,
    root,
  )
}
