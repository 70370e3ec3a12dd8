/** Where one writes. An island of its own: no key press draws the log. */

import type { Ref } from 'preact'
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useAttached } from '../attached.ts'
import { useDraft } from '../drafts.ts'
import { alt, control, errorOf, isComposing, useModel } from '../hooks.ts'
import type { ChatView, Current, ErrorBody, FileRef, SendMode } from '../model.ts'
import { usePreferences } from '../preferences.ts'
import { costOf, countOf } from '../rules/format.rules.ts'
import { Attach, Attached } from './attached.tsx'
import { Icon } from './icons.tsx'
import { ModelPick, ThinkingPick } from './pickers.tsx'
import { Refusal } from './problem.tsx'
import { Queue } from './queue.tsx'

export type ComposerHandle = { say(text: string, files?: readonly FileRef[]): void; focus(): void }

/** @property escaped Esc was pressed once: a second time stops the turn */
type ComposerProps = { view: ChatView; handle: Ref<ComposerHandle>; escaped: boolean; onSaid(): void }

export const Composer = ({ view, handle, escaped, onSaid }: ComposerProps) => {
  const model = useModel()
  const { preferences } = usePreferences()
  const { current, connection } = view
  const draft = useDraft(current.key)
  const attached = useAttached(current.key)
  const field = useRef<HTMLTextAreaElement>(null)
  const [mode, setMode] = useState<SendMode>(preferences.whileRunning)
  const [sending, setSending] = useState(false)
  const [refused, refuse] = useState<Partial<ErrorBody> & { message: string }>()

  // On a phone the keyboard comes when the field is touched, not by itself.
  useEffect(() => {
    if (matchMedia('(pointer: fine)').matches) field.current?.focus({ preventScroll: true })
    refuse(undefined)
    setMode(preferences.whileRunning)
  }, [current.key, preferences.whileRunning])
  useTall(field, draft.text)

  const empty = draft.text.trim() === '' && attached.files.length === 0
  const send = async (how: SendMode) => {
    if (empty || sending || attached.busy) return
    refuse(undefined)
    setSending(true)
    onSaid()
    try {
      await attached.give((files) => draft.give((text) => model.send(text, { mode: how, ...(files.length > 0 && { files }) })))
    } catch (reason) {
      refuse(errorOf(reason))
    } finally {
      setSending(false)
    }
  }
  const say = async (text: string, files: readonly FileRef[] = []) => {
    onSaid()
    try {
      await model.send(text, { mode, ...(files.length > 0 && { files }) })
    } catch (reason) {
      refuse(errorOf(reason))
      // It was not written here, so there is nothing to lose; but it can be sent again from here.
      if (draft.text === '') draft.write(text)
    }
  }
  useImperativeHandle(handle, () => ({ say: (text, files) => void say(text, files), focus: () => field.current?.focus() }))

  const keys = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    const plain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey
    if (event.key === 'Enter') {
      const other = event.altKey || event.ctrlKey || event.metaKey
      if (event.shiftKey || (!preferences.enterSends && !other)) return
      event.preventDefault()
      void send(event.altKey ? 'followup' : mode)
    } else if (event.key === 'ArrowUp' && plain && draft.text === '') {
      const last = current.entries.findLast((entry) => entry.kind === 'said')
      if (!last) return
      event.preventDefault()
      draft.write(last.text)
    }
  }
  return (
    <div class="dock">
      <div class="dock-in">
        <Queue waiting={current.waiting} onBack={(text) => draft.write([text, draft.text].filter(Boolean).join('\n\n'))} />
        {refused && <Refusal error={refused} />}
        <form
          class={current.running ? 'composer running' : 'composer'}
          {...attached.drops}
          onSubmit={(event) => {
            event.preventDefault()
            void send(mode)
          }}
        >
          <Attached attached={attached} />
          <label class="unseen" for="say">
            Message
          </label>
          <textarea
            id="say"
            ref={field}
            rows={1}
            dir="auto"
            value={draft.text}
            placeholder={placeholderOf(current, connection.state === 'lost', mode)}
            onInput={(event) => draft.write(event.currentTarget.value)}
            onKeyDown={keys}
            onPaste={attached.onPaste}
            enterkeyhint={preferences.enterSends ? 'send' : 'enter'}
          />
          <div class="row">
            {model.upload && <Attach onChosen={attached.add} />}
            {view.models.length > 0 && <ModelPick current={current} models={view.models} onRefused={(message) => refuse({ message })} />}
            {view.thinkingLevels.length > 0 && (
              <ThinkingPick current={current} choices={view.thinkingLevels} onRefused={(message) => refuse({ message })} />
            )}
            <span class="grow" />
            {current.running && <Modes mode={mode} onChoose={setMode} />}
            {current.running && <Stop current={current} onRefused={(reason) => refuse(errorOf(reason))} />}
            <button type="submit" class="send" aria-label="Send" title="Send" disabled={empty || sending || attached.busy}>
              <Icon name="send" />
            </button>
          </div>
        </form>
        <p class="hint">
          <span>
            <span role="status">{escaped && current.running ? 'Esc once more stops the turn' : ''}</span>
            {!(escaped && current.running) && hintOf(current.running, mode, preferences.enterSends)}
          </span>
          <span class="num">{usedIn(current)}</span>
        </p>
      </div>
    </div>
  )
}

const placeholderOf = ({ running, loading, entries }: Current, lost: boolean, mode: SendMode): string => {
  if (lost) return 'Say something, it is sent when the connection is back'
  if (running) return mode === 'steer' ? 'Say something, it joins the running turn' : 'Say something, it waits for the end of this turn'
  return entries.length === 0 && !loading ? 'What shall be done?' : 'Say something'
}

const hintOf = (running: boolean, mode: SendMode, enterSends: boolean): string => {
  const send = enterSends ? 'Enter' : `${control} Enter`
  const line = enterSends ? 'Shift Enter is a new line' : 'Enter is a new line'
  if (!running) return `${send} sends, ${line}`
  return mode === 'steer' ? `${send} joins the turn, ${alt} Enter waits for its end, ${line}` : `${send} waits for the end of the turn, ${line}`
}

const usedIn = ({ tokens, window, costUsd }: Current): string => {
  const size = tokens === undefined ? undefined : `${countOf(tokens)}${window === undefined ? '' : ` of ${countOf(window)}`} tokens`
  return [size, costUsd === undefined ? undefined : `${costOf(costUsd)} so far`].filter(Boolean).join(', ')
}

const modes: { mode: SendMode; name: string; title: string }[] = [
  { mode: 'steer', name: 'Join', title: 'Joins the running turn' },
  { mode: 'followup', name: 'After', title: 'Waits until this turn has ended' },
]

const Modes = ({ mode, onChoose }: { mode: SendMode; onChoose(mode: SendMode): void }) => (
  <fieldset class="segments">
    <legend class="unseen">While it runs, a message</legend>
    {modes.map((one) => (
      <label key={one.mode} title={one.title}>
        <input type="radio" name="while-running" checked={mode === one.mode} onChange={() => onChoose(one.mode)} />
        <span>{one.name}</span>
      </label>
    ))}
  </fieldset>
)

const Stop = ({ current, onRefused }: { current: Current; onRefused(reason: unknown): void }) => {
  const model = useModel()
  const name = current.stopping ? 'Stopping…' : 'Stop'
  return (
    <button
      type="button"
      class="stop"
      aria-label={name}
      title="Stop, what was said is kept"
      disabled={current.stopping}
      onClick={() => void model.stop().catch(onRefused)}
    >
      <Icon name="stop" />
      <span>{name}</span>
    </button>
  )
}

/** As tall as its text, where the browser does not do that by itself. */
const useTall = (field: { current: HTMLTextAreaElement | null }, text: string): void => {
  useLayoutEffect(() => {
    const element = field.current
    if (!element || CSS.supports('field-sizing', 'content')) return
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight}px`
  }, [field, text])
}
