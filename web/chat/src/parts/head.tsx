/** The open conversation: its title, where it is in its chart, and what can be done with it. */
import { useState } from 'preact/hooks'
import { useModel, useNow } from '../hooks.ts'
import type { Current } from '../model.ts'
import { clockOf, spanOf } from '../rules/format.rules.ts'
import { moodOf } from '../rules/list.rules.ts'
import { StateNest, StatePath } from './chip.tsx'
import { Icon } from './icons.tsx'
import { Item, Pop } from './menu.tsx'
import { Rename } from './rename.tsx'

type HeadProps = { current: Current; listOpen: boolean; onList(): void; onRemove(): void; onSettings(): void; onRefused(reason: unknown): void }

export const Head = ({ current, listOpen, onList, onRemove, onSettings, onRefused }: HeadProps) => {
  const model = useModel()
  const [renaming, rename] = useState(false)
  const inspector = model.inspector?.(current.key)
  return (
    <header class="head">
      <button
        type="button"
        class="icon menu-button"
        aria-label="Conversations"
        aria-expanded={listOpen}
        aria-controls="conversations"
        onClick={onList}
      >
        <Icon name="menu" />
      </button>
      <div class="who">
        {renaming ? (
          <Rename
            title={current.title}
            onDone={(title) => {
              rename(false)
              if (title) model.rename(current.key, title).catch(onRefused)
            }}
          />
        ) : (
          <h1 dir="auto">{current.title}</h1>
        )}
        {current.state !== undefined && <Where current={current} state={current.state} inspector={inspector} />}
      </div>
      {inspector && (
        <a class="button quiet wide-only" href={inspector}>
          <Icon name="why" />
          Inspector
        </a>
      )}
      <Pop class="icon" at="below-end" name="More" label={<Icon name="more" />}>
        {(close) => {
          const then = (act: () => void) => () => {
            close()
            act()
          }
          return (
            <>
              <Item onChoose={then(() => rename(true))}>Rename</Item>
              <Item onChoose={then(onRemove)}>Delete…</Item>
              <Item onChoose={then(onSettings)}>Settings</Item>
              {inspector && <Item onChoose={then(() => location.assign(inspector))}>Inspector</Item>}
            </>
          )
        }}
      </Pop>
    </header>
  )
}

const Where = ({ current, state, inspector }: { current: Current; state: string; inspector: string | undefined }) => {
  const { stateSince } = current
  const going = moodOf(state) === 'run' || moodOf(state) === 'wait'
  const now = useNow(1000, going && stateSince !== undefined)
  return (
    <>
      <Pop class="state-button" at="below" role="dialog" name={`Where it is: ${state}`} label={<StatePath state={state} />}>
        {() => (
          <div class="where">
            <p class="pop-title">Where this conversation is</p>
            <StateNest path={state.split('.')} />
            <p class="fine">
              In <span class="mono">{state}</span>
              {stateSince === undefined ? '. ' : ` since ${clockOf(stateSince)}. `}
              {inspector && <a href={inspector}>Open in the inspector</a>}
            </p>
          </div>
        )}
      </Pop>
      {going && stateSince !== undefined && now - stateSince >= 1000 && (
        <span class="since num">{spanOf(Math.floor((now - stateSince) / 1000) * 1000)}</span>
      )}
    </>
  )
}
