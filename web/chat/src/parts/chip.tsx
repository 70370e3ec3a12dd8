/** A state as statecharts draw it: a rounded box with the path to it. */
import { moodOf } from '../rules/list.rules.ts'

/** Without its box in lists. */
export const StatePath = ({ state, bare = false }: { state: string; bare?: boolean }) => {
  const parts = state.split('.')
  const last = parts.pop()
  return (
    <span class={`state ${moodOf(state)}${bare ? ' bare' : ''}`}>
      <span class="glyph" aria-hidden="true" />
      <span>
        {parts.map((part) => `${part}.`).join('')}
        <b>{last}</b>
      </span>
    </span>
  )
}

/** The same in small: each state within the one around it. */
export const StateNest = ({ path }: { path: readonly string[] }) => {
  const [outer, ...inner] = path
  return (
    <div class={inner.length === 0 ? 'nest on' : 'nest'}>
      {outer}
      {inner.length > 0 && <StateNest path={inner} />}
    </div>
  )
}
