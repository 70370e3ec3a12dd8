/** The page: the list, the open conversation, and what floats above them. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { errorOf, useFocusAfterRemoval, useModel, useNarrow, useView } from './hooks.ts'
import { twiceMs, useKeys } from './keys.ts'
import type { Conversation, ErrorBody, FileRef } from './model.ts'
import { Announcer } from './parts/announcer.tsx'
import { Asides } from './parts/asides.tsx'
import { Banner } from './parts/banner.tsx'
import { Composer, type ComposerHandle } from './parts/composer.tsx'
import { Dialog } from './parts/dialog.tsx'
import { Head } from './parts/head.tsx'
import { Log, type LogHandle } from './parts/log.tsx'
import { Refusal } from './parts/problem.tsx'
import { Settings } from './parts/settings.tsx'
import { Side } from './parts/side.tsx'
import { PreferencesProvider, useKeptPreferences } from './preferences.ts'

type Floating = { kind: 'settings' } | { kind: 'remove'; conversation: Pick<Conversation, 'key' | 'title'> }

export const App = () => {
  const model = useModel()
  const view = useView(model)
  const preferences = useKeptPreferences()
  const narrow = useNarrow()
  const [drawer, setDrawer] = useState(false)
  const [floating, float] = useState<Floating>()
  const [escapedAt, setEscapedAt] = useState<number>()
  const [refused, refuse] = useState<Partial<ErrorBody> & { message: string }>()
  const composer = useRef<ComposerHandle>(null)
  const log = useRef<LogHandle>(null)
  const search = useRef<HTMLInputElement>(null)
  const { current } = view
  const drawn = narrow && drawer

  useEffect(() => {
    document.title = `${current.title} · Statecast`
  }, [current.title])
  useEffect(() => refuse(undefined), [current.key])
  useEffect(() => {
    if (escapedAt === undefined) return
    const timer = setTimeout(() => setEscapedAt(undefined), twiceMs)
    return () => clearTimeout(timer)
  }, [escapedAt])
  const say = useCallback((text: string, files?: readonly FileRef[]) => composer.current?.say(text, files), [])
  useFocusAfterRemoval(useCallback(() => composer.current?.focus(), []))
  const onRefused = useCallback((reason: unknown) => refuse(errorOf(reason)), [])
  const openSettings = useCallback(() => {
    setDrawer(false)
    float({ kind: 'settings' })
  }, [])
  const swipe = useSwipe(() => setDrawer(false))

  useKeys(preferences.preferences.keys, {
    search: () => {
      setDrawer(true)
      search.current?.focus()
    },
    create: () => {
      model.newConversation()
      composer.current?.focus()
    },
    settings: openSettings,
    stop: () => {
      setEscapedAt(undefined)
      if (current.running) model.stop().catch(onRefused)
    },
    escaped: () => setEscapedAt(Date.now()),
    close: () => setDrawer(false),
  })

  return (
    <PreferencesProvider value={preferences}>
      <div class="page" data-drawer={drawn ? 'open' : undefined} {...(drawn ? swipe : {})}>
        <Side
          view={view}
          inert={narrow && !drawer}
          search={search}
          onChosen={() => setDrawer(false)}
          onRemove={(conversation) => float({ kind: 'remove', conversation })}
          onSettings={openSettings}
          onRefused={onRefused}
        />
        {drawn && <button type="button" class="scrim" aria-label="Close the list" onClick={() => setDrawer(false)} />}
        <main class="main" inert={drawn}>
          <Head
            current={current}
            listOpen={drawn}
            onList={() => setDrawer(true)}
            onRemove={() => float({ kind: 'remove', conversation: current })}
            onSettings={openSettings}
            onRefused={onRefused}
          />
          <Banner connection={view.connection} />
          {refused && <Refusal error={refused} />}
          <Log current={current} tools={view.tools} handle={log} onAgain={say} onStart={say} />
          <Asides key={current.key} asides={current.asides ?? []} />
          <Composer view={view} handle={composer} escaped={escapedAt !== undefined} onSaid={() => log.current?.said()} />
        </main>
      </div>
      {floating?.kind === 'settings' && <Settings onClose={() => float(undefined)} />}
      {floating?.kind === 'remove' && (
        <Dialog title="Delete this conversation?" kind="question" onClose={() => float(undefined)}>
          <p>“{floating.conversation.title}” goes with all that was said in it and with its journal. It cannot be brought back.</p>
          <div class="row">
            <button
              type="button"
              class="button danger"
              onClick={() => {
                float(undefined)
                model.remove(floating.conversation.key).catch(onRefused)
              }}
            >
              Delete
            </button>
            <button type="button" class="button quiet" onClick={() => float(undefined)}>
              Keep it
            </button>
          </div>
        </Dialog>
      )}
      <Announcer view={view} />
    </PreferencesProvider>
  )
}

/** The drawer goes the way it came. */
const useSwipe = (onLeft: () => void) => {
  const from = useRef(0)
  return {
    onTouchStart: (event: TouchEvent) => {
      from.current = event.touches[0]?.clientX ?? 0
    },
    onTouchEnd: (event: TouchEvent) => {
      if ((event.changedTouches[0]?.clientX ?? 0) < from.current - 60) onLeft()
    },
  }
}
