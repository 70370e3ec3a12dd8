/** The list of conversations. */
import type { RefObject } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { control, useModel, useNow } from '../hooks.ts'
import type { ChatView, Connection, Conversation } from '../model.ts'
import { whenOf } from '../rules/format.rules.ts'
import { groupsOf, markedIn, moodOf } from '../rules/list.rules.ts'
import { StatePath } from './chip.tsx'
import { Icon, Logo } from './icons.tsx'
import { Rename } from './rename.tsx'

type SideProps = {
  view: ChatView
  inert: boolean
  search: RefObject<HTMLInputElement | null>
  onChosen(): void
  onRemove(conversation: Conversation): void
  onSettings(): void
  onRefused(reason: unknown): void
}

export const Side = ({ view, inert, search, onChosen, onRemove, onSettings, onRefused }: SideProps) => {
  const model = useModel()
  const [words, seek] = useState('')
  const now = useNow(30_000)
  const groups = useMemo(() => groupsOf(view.conversations, words, now), [view.conversations, words, now])
  return (
    <nav class="side" aria-label="Conversations" inert={inert} id="conversations">
      <div class="brand">
        <Logo />
        <span>Statecast</span>
        <button
          type="button"
          class="icon"
          aria-label="New conversation"
          title={`New conversation (${control} Shift O)`}
          onClick={() => {
            model.newConversation()
            onChosen()
          }}
        >
          <Icon name="plus" />
        </button>
      </div>
      <search class="search">
        <Icon name="search" />
        <label class="unseen" for="find">
          Search conversations
        </label>
        <input
          id="find"
          type="search"
          ref={search}
          placeholder="Titles and last words"
          autocomplete="off"
          value={words}
          onInput={(event) => seek(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') seek('')
          }}
        />
        <kbd>{control} K</kbd>
      </search>
      <div class="list">
        {groups.map((group) => (
          <section key={group.name}>
            <h2>{group.name}</h2>
            <ul>
              {group.conversations.map((one) => (
                <Row
                  key={one.key}
                  conversation={one}
                  words={words}
                  now={now}
                  open={one.key === view.current.key}
                  onOpen={() => {
                    model.open(one.key)
                    onChosen()
                  }}
                  onRename={(title) => void model.rename(one.key, title).catch(onRefused)}
                  onRemove={() => onRemove(one)}
                />
              ))}
            </ul>
          </section>
        ))}
        {groups.length === 0 && (
          <p class="none">
            <b>{words === '' ? 'No conversations yet' : 'No conversation has these words'}</b>
            {words === '' ? 'The first begins with what you say.' : 'Titles and the last words of each were searched.'}
          </p>
        )}
      </div>
      <footer class="foot">
        <Net connection={view.connection} />
        <button type="button" class="icon" aria-label="Settings" title={`Settings (${control} ,)`} onClick={onSettings}>
          <Icon name="settings" />
        </button>
      </footer>
    </nav>
  )
}

const Net = ({ connection }: { connection: Connection }) => {
  const texts: Record<Connection['state'], string> = {
    connecting: 'Connecting',
    connected: connection.state === 'connected' && connection.node ? `Connected to ${connection.node}` : 'Connected',
    lost: 'Connecting again',
    refused: 'Not connected',
  }
  return (
    <>
      <span class={`net ${connection.state}`} aria-hidden="true" />
      <span class="net-text">{texts[connection.state]}</span>
    </>
  )
}

type RowProps = {
  conversation: Conversation
  words: string
  now: number
  open: boolean
  onOpen(): void
  onRename(title: string): void
  onRemove(): void
}

const Row = ({ conversation, words, now, open, onOpen, onRename, onRemove }: RowProps) => {
  const [renaming, rename] = useState(false)
  const { title, state, at, unread } = conversation
  const live = state !== undefined && moodOf(state) !== 'rest'
  if (renaming)
    return (
      <li>
        <Rename
          title={title}
          onDone={(next) => {
            rename(false)
            if (next) onRename(next)
          }}
        />
      </li>
    )
  return (
    <li>
      <button type="button" class={unread ? 'conversation unread' : 'conversation'} aria-current={open ? 'page' : undefined} onClick={onOpen}>
        <span class="name" dir="auto">
          <Marked text={title} words={words} />
        </span>
        {at !== undefined && <span class="when num">{whenOf(at, now)}</span>}
        <span class="words">{live ? <StatePath state={state} bare /> : <Marked text={conversation.words ?? ''} words={words} />}</span>
        {unread && (
          <span class="mark">
            <span class="unseen">unread</span>
          </span>
        )}
      </button>
      <span class="acts">
        <button type="button" class="icon" aria-label={`Rename ${title}`} title="Rename" onClick={() => rename(true)}>
          <Icon name="pen" />
        </button>
        <button type="button" class="icon" aria-label={`Delete ${title}`} title="Delete" onClick={onRemove}>
          <Icon name="bin" />
        </button>
      </span>
    </li>
  )
}

const Marked = ({ text, words }: { text: string; words: string }) => (
  <>{markedIn(text, words).map((part, index) => (part.hit ? <mark key={index}>{part.text}</mark> : part.text))}</>
)
