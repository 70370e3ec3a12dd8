/** The page: what there is, the tree, the chart, the timeline, and the details of a moment. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { keyActs } from './acts.ts'
import { useModel, useView } from './hooks.ts'
import { useKeys } from './keys.ts'
import { Announcer } from './parts/announcer.tsx'
import { Banner } from './parts/banner.tsx'
import { ExportDialog } from './parts/dialogs/export.tsx'
import { ForkDialog, WhatIfDialog } from './parts/dialogs/fork.tsx'
import { KeysDialog } from './parts/dialogs/keys.tsx'
import { approvalsIn } from './parts/info/ask.tsx'
import { Info } from './parts/info/info.tsx'
import { Side } from './parts/side.tsx'
import { type Looks, Stage } from './parts/stage.tsx'
import { type Tab, Tabs, Todo } from './parts/tabs.tsx'
import { Timeline } from './parts/time/timeline.tsx'
import { Top, type Wanted } from './parts/top.tsx'
import { Tree } from './parts/tree.tsx'
import { boxesOf, boxFor } from './rules/actors.rules.ts'
import { useTheme } from './theme.ts'

export const App = () => {
  const model = useModel()
  const view = useView(model)
  const [looks, setLooks] = useState<Looks>({ level: 'overview', possible: true, whole: false, heat: false })
  const [tab, show] = useState<Tab>(view.subject ? 'chart' : 'list')
  const [drawer, setDrawer] = useState(false)
  const [wanted, want] = useState<Wanted>()
  const search = useRef<HTMLInputElement>(null)
  const theme = useTheme()
  const { subject, place, recorded, looked } = view
  const boxes = useMemo(() => (place.head === 0 ? [] : boxesOf(recorded, place.seq, looked?.moment)), [recorded.version, place.seq, looked])
  const box = boxFor(boxes, view.actor, recorded) ?? boxes[0]
  const asks = place.seq === place.head ? approvalsIn(view) : []
  useEffect(() => {
    document.title = subject ? `${subject.id}${place.seq > 0 ? ` at ${place.seq}` : ''} · Statecast inspector` : 'Inspector · Statecast'
  }, [subject?.id, place.seq])

  const onLooks = (changes: Partial<Looks>) => setLooks((before) => ({ ...before, ...changes }))
  const onLink = () => void navigator.clipboard?.writeText(model.link()).catch(() => undefined)
  const onExport = () => subject && place.head > 0 && want('export')
  const onSearch = () => {
    setDrawer(true)
    show('list')
  }
  useKeys(keyActs({ model, looks, onLooks, want, search, onSearch, onLink, onExport }))
  const close = () => want(undefined)

  return (
    <div class="inspector" data-tab={tab} data-drawer={drawer ? 'open' : undefined} data-whole={looks.whole ? '' : undefined}>
      <Top view={view} onList={() => setDrawer(!drawer)} onDialog={want} onLink={onLink} onExport={onExport} onTheme={theme.turn} />
      <Banner view={view} />
      <main class={boxes.length > 7 ? 'app many' : 'app'}>
        <Side
          view={view}
          search={search}
          onChosen={() => {
            setDrawer(false)
            if (tab === 'list') show('chart')
          }}
        />
        {drawer && <button type="button" class="scrim" aria-label="Close the list" onClick={() => setDrawer(false)} />}
        <Tree boxes={boxes} chosen={box} />
        <Stage view={view} box={box} looks={looks} onLooks={onLooks} />
        <Timeline view={view} chosen={box?.lane.key} />
        <Info view={view} box={box} />
      </main>
      {asks[0] && tab !== 'info' && <Todo approval={asks[0]} onDecide={() => show('info')} />}
      <Tabs tab={tab} onTab={show} />
      {wanted === 'fork' && subject && <ForkDialog view={view} onClose={close} />}
      {wanted === 'what' && subject && <WhatIfDialog view={view} onClose={close} />}
      {wanted === 'export' && subject && <ExportDialog view={view} onClose={close} />}
      {wanted === 'keys' && <KeysDialog onClose={close} />}
      <Announcer view={view} />
    </div>
  )
}
