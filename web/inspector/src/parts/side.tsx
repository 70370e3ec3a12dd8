/** The list: what there is to look at, and how it is now. */
import type { RefObject } from 'preact'
import { useState } from 'preact/hooks'
import { useModel, useNow } from '../hooks.ts'
import type { InspectorView } from '../model.ts'
import { searchOf } from '../rules/address.rules.ts'
import { countOf, type Facet, type ListRow, rowsOf } from '../rules/list.rules.ts'
import { spanWords } from '../rules/ruler.rules.ts'
import { Dot } from './dot.tsx'
import { Icon } from './icons.tsx'
import { Said } from './text.tsx'

/** More would be slow to draw, and nobody reads on: the search finds the others. */
const shownMax = 200

type SideProps = { view: InspectorView; search: RefObject<HTMLInputElement | null>; onChosen(): void }

export const Side = ({ view, search, onChosen }: SideProps) => {
  const model = useModel()
  const now = useNow(10_000)
  const [words, look] = useState('')
  const [wanted, choose] = useState<Facet>()
  const { list = [], others } = view
  // Where there is no session at all, what there is else is shown.
  const facet = wanted ?? (view.list?.length === 0 && others !== undefined && others.length > 0 ? 'others' : 'all')
  const rows = facet === 'others' ? rowsOf(others ?? [], words, 'all') : rowsOf(list, words, facet)
  const facets: [Facet, string][] = [
    ['all', `All ${list.length}`],
    ['waiting', `Waiting ${countOf(list, 'waiting')}`],
    ['failed', `Failed ${countOf(list, 'failed')}`],
    ['others', others === undefined ? 'Others' : `Others ${others.length}`],
  ]
  return (
    <aside class="side" aria-label="Sessions">
      <label class="find">
        <Icon name="search" />
        <input
          ref={search}
          value={words}
          placeholder="Key, text, state, error"
          aria-label="Search sessions"
          onInput={(event) => look(event.currentTarget.value)}
        />
        <kbd>/</kbd>
      </label>
      <fieldset class="facets" aria-label="Only">
        {facets.map(([name, label]) => (
          <button
            key={name}
            type="button"
            aria-pressed={facet === name}
            title={name === 'others' ? 'Actors of other kinds than sessions' : undefined}
            onClick={() => {
              choose(name)
              if (name === 'others') model.wantOthers()
            }}
          >
            {label}
          </button>
        ))}
      </fieldset>
      <ul class="listed">
        {rows.slice(0, shownMax).map((row) => (
          <Row key={`${row.kind}/${row.id}`} row={row} now={now} view={view} onChosen={onChosen} />
        ))}
      </ul>
      {rows.length === 0 && <p class="fine nothing">{nothing(view, facet, words)}</p>}
      {rows.length === 0 && facet !== 'others' && (
        <button
          type="button"
          class="link nothing"
          onClick={() => {
            choose('others')
            model.wantOthers()
          }}
        >
          Look among actors of other kinds
        </button>
      )}
      {rows.length > shownMax && <p class="fine nothing">{rows.length - shownMax} more; search for them.</p>}
    </aside>
  )
}

const nothing = ({ list, others }: InspectorView, facet: Facet, words: string): string => {
  if ((facet === 'others' ? others : list) === undefined) return 'Reading the list…'
  return words.trim() === '' ? 'None.' : 'None of them has these words.'
}

const Row = ({ row, now, view, onChosen }: { row: ListRow; now: number; view: InspectorView; onChosen(): void }) => {
  const model = useModel()
  const { kind, id, at, mood, state, words, isFork, origin } = row
  const isOpen = view.subject?.kind === kind && view.subject.id === id
  const age = now - at < 1_500 ? 'now' : spanWords(now - at)
  return (
    <li class={isFork ? 'is-fork' : undefined}>
      <a
        href={searchOf({ kind, id })}
        aria-current={isOpen ? 'page' : undefined}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
          event.preventDefault()
          if (!isOpen) model.open({ kind, id })
          onChosen()
        }}
      >
        <Dot mood={mood} />
        <span class="key">
          <Said text={id} />
        </span>
        <span class="age num">{age}</span>
        <span class="words">
          <Said text={words} />
        </span>
        <span class={`state-words ${mood}`}>{origin ? `fork of ${origin.key} at ${origin.at}` : <Said text={state} />}</span>
      </a>
    </li>
  )
}
