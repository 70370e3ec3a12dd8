/** The actors, from the root to the leaves. */
import { useEffect, useRef } from 'preact/hooks'
import { useModel, useMore, useSize } from '../hooks.ts'
import type { Box } from '../rules/actors.rules.ts'
import { Dot } from './dot.tsx'
import { Said } from './text.tsx'

export const Tree = ({ boxes, chosen }: { boxes: readonly Box[]; chosen: Box | undefined }) => {
  const model = useModel()
  const row = useRef<HTMLElement>(null)
  const key = chosen?.lane.key
  const more = useMore(row, 'x')
  const { width } = useSize(row)
  const waits = boxes.some(({ mood }) => mood === 'wait')
  // A moment is told in short until it has been folded; then boxes become wider.
  const words = boxes.map(({ name, mood, state }) => `${name} ${mood} ${state}`).join()
  useEffect(() => {
    const [box, around] = [row.current?.querySelector<HTMLElement>('[aria-pressed="true"]'), row.current]
    if (!box || !around || around.scrollWidth <= around.clientWidth) return
    around.scrollTo({ left: box.offsetLeft - (around.clientWidth - box.offsetWidth) / 2 })
  }, [key, boxes.length, width])
  // After the one that is chosen: where both have no room, it is more urgent. Those above one that waits wait as well.
  useEffect(() => {
    if (!waits) return
    const last = [...(row.current?.querySelectorAll('.actor.wait') ?? [])].at(-1)
    last?.scrollIntoView({ inline: 'nearest', block: 'nearest' })
  }, [words, width])
  return (
    <section class="tree" aria-label="Actors" ref={row} data-more={more}>
      {boxes.map((box, index) => {
        const { lane, path, name, mood, state, isThere } = box
        const isBelow = (boxes[index - 1]?.lane.depth ?? -1) < lane.depth
        return [
          index > 0 && <span key={`to ${lane.key}`} class={isBelow ? 'wire' : 'gap'} />,
          <button
            key={lane.key}
            type="button"
            class={`actor ${mood}${isThere ? '' : ' away'}`}
            aria-pressed={lane.key === key}
            title={path}
            onClick={() => model.choose(path)}
          >
            <b>
              <Dot mood={mood} />
              <Said text={name} />
            </b>
            <span class="state-words">
              <Said text={state} />
            </span>
          </button>,
        ]
      })}
    </section>
  )
}
