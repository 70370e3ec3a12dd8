/** How the page looks and behaves, and its keys. */
import type { ComponentChildren } from 'preact'
import { alt, control } from '../hooks.ts'
import { type Preferences, usePreferences } from '../preferences.ts'
import { Dialog } from './dialog.tsx'

export const Settings = ({ onClose }: { onClose(): void }) => (
  <Dialog title="Settings" kind="sheet" onClose={onClose}>
    <h3>Looks</h3>
    <Choice name="theme" title="Theme" text="System follows the device" values={{ system: 'System', light: 'Light', dark: 'Dark' }} />
    <Choice name="density" title="Density" text="Compact shows about a third more" values={{ roomy: 'Roomy', compact: 'Compact' }} />
    <h3>Writing</h3>
    <Switch name="enterSends" title="Enter sends" text={`Off: Enter is a new line, ${control} Enter sends`} />
    <Choice
      name="whileRunning"
      title="While it runs, a message"
      text="Each message can be switched where it is written"
      values={{ steer: 'Joins', followup: 'Waits' }}
    />
    <h3>Answers</h3>
    <Switch name="openThinking" title="Open thinking by itself" text="It is always there, folded" />
    <Switch name="showUse" title="Model, tokens and cost below answers" text="What each answer took" />
    <h3>Keys</h3>
    <Switch name="keys" title="Keys of this page" text="Off: only those that write and send" />
    <dl class="keys">
      {keys.map(([what, ...pressed]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>
            {pressed.map((key, index) => (
              <kbd key={index}>{key}</kbd>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  </Dialog>
)

const keys: [what: string, ...keys: string[]][] = [
  ['Search conversations', control, 'K'],
  ['New conversation', control, 'Shift', 'O'],
  ['Settings', control, ','],
  ['To the question that waits', alt, 'A'],
  ['Message by message', alt, 'Up', 'Down'],
  ['Stop', 'Esc', 'Esc'],
  ['Last message again, where nothing is written', 'Up'],
  ['This list, in the conversation', '?'],
]

const Setting = ({ title, text, children }: { title: string; text: string; children: ComponentChildren }) => (
  <div class="setting">
    <b>{title}</b>
    <small>{text}</small>
    {children}
  </div>
)

type Named<Value> = { [Name in keyof Preferences]: Preferences[Name] extends Value ? Name : never }[keyof Preferences]

type ChoiceProps<Name extends Named<string>> = { name: Name; title: string; text: string; values: Record<Preferences[Name], string> }

const Choice = <Name extends Named<string>>({ name, title, text, values }: ChoiceProps<Name>) => {
  const { preferences, change } = usePreferences()
  return (
    <Setting title={title} text={text}>
      <fieldset class="segments">
        <legend class="unseen">{title}</legend>
        {(Object.entries(values) as [Preferences[Name], string][]).map(([value, label]) => (
          <label key={value}>
            <input type="radio" name={name} checked={preferences[name] === value} onChange={() => change({ [name]: value })} />
            <span>{label}</span>
          </label>
        ))}
      </fieldset>
    </Setting>
  )
}

const Switch = ({ name, title, text }: { name: Named<boolean>; title: string; text: string }) => {
  const { preferences, change } = usePreferences()
  return (
    <Setting title={title} text={text}>
      <input
        type="checkbox"
        role="switch"
        class="switch"
        aria-label={title}
        aria-checked={preferences[name]}
        checked={preferences[name]}
        onChange={(event) => change({ [name]: event.currentTarget.checked })}
      />
    </Setting>
  )
}
