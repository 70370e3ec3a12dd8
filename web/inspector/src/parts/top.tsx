/** Where you are, and what can be done from here. */
import { useState } from 'preact/hooks'
import type { InspectorView } from '../model.ts'
import { Icon, Logo } from './icons.tsx'
import { Said } from './text.tsx'
import { VerdictWords } from './verdict.tsx'

export type Wanted = 'fork' | 'what' | 'export' | 'keys'

type TopProps = { view: InspectorView; onList(): void; onDialog(wanted: Wanted): void; onLink(): void; onExport(): void; onTheme(): void }

export const Top = ({ view, onList, onDialog, onLink, onExport, onTheme }: TopProps) => {
  const { subject, place } = view
  const isOpen = subject !== undefined && place.head > 0
  const agent = subject?.kind === 'session' ? agentOf(subject.id) : subject?.kind
  return (
    <header class="top">
      <button type="button" class="icon drawer-button" aria-label="Sessions" onClick={onList}>
        <Icon name="menu" />
      </button>
      <span class="brand">
        <Logo />
        <b>Inspector</b>
      </span>
      <nav class="crumb" aria-label="Where you are">
        {subject && (
          <>
            {agent !== undefined && (
              <>
                <span class="agent">
                  <Said text={agent} />
                </span>
                <span class="slash">/</span>
              </>
            )}
            <b>
              <Said text={subject.id} />
            </b>
            {place.seq > 0 && <span class="at num">at {place.seq}</span>}
          </>
        )}
      </nav>
      {isOpen && <VerdictWords view={view} />}
      <span class="grow" />
      <div class="acts">
        {isOpen && (
          <>
            <button type="button" class="button" onClick={() => onDialog('fork')}>
              <Icon name="fork" />
              <span>Fork here</span>
              <kbd>F</kbd>
            </button>
            <button type="button" class="button act-what" onClick={() => onDialog('what')}>
              <Icon name="what" />
              <span>What if</span>
              <kbd>W</kbd>
            </button>
          </>
        )}
        {isOpen && (
          <>
            <Done class="act-link" icon="link" label="Copy a link to this moment (C)" onDo={onLink} />
            <Done class="act-export" icon="export" label="Export, redacted (E)" onDo={onExport} />
            <span class="parting" />
          </>
        )}
        <button type="button" class="icon act-keys" aria-label="Keyboard" title="Keyboard (?)" onClick={() => onDialog('keys')}>
          <Icon name="keys" />
        </button>
        <button type="button" class="icon" aria-label="Light or dark" title="Light or dark" onClick={onTheme}>
          <Icon name="theme" />
        </button>
      </div>
    </header>
  )
}

/** Shows for a moment that it was done. */
const Done = ({ icon, label, onDo, class: className }: { icon: 'link' | 'export'; label: string; onDo(): void; class: string }) => {
  const [done, set] = useState(0)
  return (
    <button
      type="button"
      class={`icon ${className}`}
      aria-label={label.replace(/ \(.\)$/, '')}
      title={label}
      onClick={() => {
        onDo()
        set(done + 1)
        setTimeout(() => set((before) => before - 1), 1_600)
      }}
    >
      <Icon name={done > 0 ? 'check' : icon} />
    </button>
  )
}

/** `agent:main:web:…` names its agent; any other key does not. */
const agentOf = (key: string): string | undefined => /^agent:([^:]+):/.exec(key)?.[1]
