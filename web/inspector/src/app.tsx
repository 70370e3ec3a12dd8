/** The page: sessions, the tree of the one that is open, its chart, the timeline, and what happened at the moment that is looked at. */
import { useEffect, useState } from 'preact/hooks'
import { useKeys } from './keys.ts'
import type { Model, Opened, View } from './model.ts'
import { Actors } from './parts/actors.tsx'
import { ChartPane } from './parts/chart-pane.tsx'
import { Details } from './parts/details.tsx'
import { Sessions } from './parts/sessions.tsx'
import { Text } from './parts/text.tsx'
import { Timeline } from './parts/timeline.tsx'
import { searchOf } from './place.ts'

export const App = ({ model }: { model: Model }) => {
  const [view, setView] = useState(model.view())
  useEffect(() => model.subscribe(() => setView(model.view())), [model])
  const { opened } = view
  useKeys(model)
  useEffect(() => {
    if (!opened) return
    const { kind, id, seq, live, actor } = opened
    history.replaceState(null, '', searchOf({ kind, id, seq: live || seq === 0 ? undefined : seq, actor }))
    document.title = `${id} · Inspector`
  }, [opened?.kind, opened?.id, opened?.seq, opened?.live, opened?.actor])
  return (
    <div class="inspector">
      <Top view={view} model={model} />
      <Sessions view={view} onOpen={(key) => model.open('session', key)} />
      <main>{opened ? <Looked opened={opened} model={model} /> : <Nothing view={view} />}</main>
      {opened ? <Details opened={opened} model={model} /> : <aside class="details" aria-label="Details" />}
    </div>
  )
}

const Looked = ({ opened, model }: { opened: Opened; model: Model }) => (
  <>
    <Actors opened={opened} onChoose={(path) => model.choose(path)} />
    <ChartPane opened={opened} />
    <Timeline opened={opened} model={model} />
  </>
)

const Top = ({ view, model }: { view: View; model: Model }) => {
  const { opened } = view
  return (
    <header class="top">
      <h1>Inspector</h1>
      {opened && (
        <>
          <span class="where mono">
            {opened.kind} /{' '}
            <b>
              <Text>{opened.id}</Text>
            </b>
          </span>
          <span class="at mono">at {opened.seq}</span>
          <button type="button" class="button quiet" onClick={() => void model.verify()}>
            {opened.verdict === undefined ? 'Replay' : `replay ${opened.verdict}`}
          </button>
        </>
      )}
      <span class="grow" />
      <Connection view={view} />
      <a class="button quiet" href={opened?.kind === 'session' ? `/#/${encodeURIComponent(opened.id)}` : '/'}>
        Chat
      </a>
    </header>
  )
}

const Connection = ({ view }: { view: View }) => {
  const { status, error, opened } = view
  if (status === 'ready') return null
  if (status === 'refused')
    return (
      <p class="state fail" role="alert">
        The link has no token, or an old one: open the address that statecast up printed. {error?.message}
      </p>
    )
  return (
    <p class="state wait" role="status">
      {opened && opened.rows.length > 0 ? `The node does not answer. What you see is complete up to ${opened.rows.length}.` : 'Connecting …'}
    </p>
  )
}

const Nothing = ({ view: { listed } }: { view: View }) => (
  <div class="nothing">
    {listed?.length === 0 ? (
      <>
        <p>No session yet. Send the first message and watch it arrive here.</p>
        <pre>npx statecast send main "hello"</pre>
      </>
    ) : (
      <p>{listed === undefined ? 'Loading …' : 'Choose a session to see its statecharts, and what happened when.'}</p>
    )}
  </div>
)
