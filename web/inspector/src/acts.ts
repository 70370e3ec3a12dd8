/** What the keys do. */
import type { RefObject } from 'preact'
import type { KeyActs } from './keys.ts'
import type { InspectorModel } from './model.ts'
import type { Looks } from './parts/stage.tsx'
import type { Wanted } from './parts/top.tsx'
import { boxesOf, boxFor } from './rules/actors.rules.ts'
import { isLoud, seek, touches } from './rules/filter.rules.ts'

type Parts = {
  model: InspectorModel
  looks: Looks
  onLooks(changes: Partial<Looks>): void
  want(wanted: Wanted): void
  search: RefObject<HTMLInputElement | null>
  onSearch(): void
  onLink(): void
  onExport(): void
}

export const keyActs = ({ model, looks, onLooks, want, search, onSearch, onLink, onExport }: Parts): KeyActs => {
  /** As it is now: keys may come faster than the page is drawn. */
  const at = () => model.view()
  const step = (by: number) => () => model.seek(at().place.seq + by)
  const to = (seq: number | undefined) => seq !== undefined && model.seek(seq)
  const find = (by: 1 | -1, so: Parameters<typeof seek>[3]) => to(seek(at().recorded.rows, at().place.seq, by, so))
  const chosen = () => {
    const { recorded, place, looked, actor } = at()
    const boxes = boxesOf(recorded, place.seq, looked?.moment)
    return { boxes, index: Math.max(0, boxes.indexOf(boxFor(boxes, actor, recorded) as never)) }
  }
  const actor = (by: number) => () => {
    const { boxes, index } = chosen()
    const next = boxes[index + by]
    if (next) model.choose(next.path)
  }
  const touching = (by: 1 | -1) => () => {
    const { boxes, index } = chosen()
    const key = boxes[index]?.lane.key
    const { lanes } = at().recorded
    find(by, (row) =>
      [...Object.keys(row.states), ...row.marks.map((mark) => mark.actor)].some((path) => touches(row, path) && lanes.keyOf(path) === key),
    )
  }
  const onOpen = (then: () => void) => () => at().subject !== undefined && at().place.head > 0 && then()
  const acts: KeyActs = {
    ArrowLeft: step(-1),
    ArrowRight: step(1),
    '⇧ArrowLeft': touching(-1),
    '⇧ArrowRight': touching(1),
    '[': () => find(-1, isLoud),
    ']': () => find(1, isLoud),
    Home: () => model.seek(1),
    End: () => model.seek(at().place.head),
    l: () => model.live(),
    ArrowUp: actor(-1),
    ArrowDown: actor(1),
    d: () => onLooks({ possible: !looks.possible }),
    h: () => onLooks({ heat: !looks.heat }),
    z: () => onLooks({ whole: !looks.whole, level: looks.whole ? 'overview' : 'labels' }),
    Escape: looks.whole ? () => onLooks({ whole: false, level: 'overview' }) : undefined,
    f: onOpen(() => want('fork')),
    w: onOpen(() => want('what')),
    c: onLink,
    e: onExport,
    '?': () => want('keys'),
    '/': () => {
      onSearch()
      // The drawer has to be there first.
      requestAnimationFrame(() => search.current?.focus())
    },
  }
  return at().place.head > 0 ? acts : { '/': acts['/'], '?': acts['?'] }
}
