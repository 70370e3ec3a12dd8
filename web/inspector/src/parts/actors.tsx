/** The tree at this moment, root to leaf, each actor with its state. */
import type { ActorAt } from '../../../../src/contracts/inspection.ts'
import type { Opened } from '../model.ts'
import { stateText, toneOf } from '../rules/lanes.rules.ts'
import { Text } from './text.tsx'

export const actorName = ({ path, id, src }: Pick<ActorAt, 'path' | 'id' | 'src'>, kind: string): string =>
  path === '/' ? kind : `${id === src || src === undefined ? id : `${src} ${id}`}${path.endsWith('#1') ? '' : (/#\d+$/.exec(path)?.[0] ?? '')}`

export const Actors = ({ opened, onChoose }: { opened: Opened; onChoose(path: string): void }) => {
  const { look, kind, actor } = opened
  const actors = look?.moment.actors ?? []
  return (
    <section class="actors" aria-label="Actors">
      {actors.map((one) => {
        const state = one.kind === 'effect' ? 'running' : stateText(one.value)
        const tone = one.status === 'active' ? toneOf(state, one.path === '/') : 'rest'
        return (
          <button type="button" key={one.path} class={one.kind} aria-pressed={one.path === actor} title={one.path} onClick={() => onChoose(one.path)}>
            <span class={`shape ${tone}`} aria-hidden="true" />
            <b>
              <Text>{actorName(one, kind)}</Text>
            </b>
            <span class={`mono said ${tone}`}>
              <Text>{one.status === 'active' ? state : one.status}</Text>
            </span>
          </button>
        )
      })}
      {actors.length === 0 && <p class="fine">{opened.error ? '' : `Folding ${opened.head === 0 ? '' : `${opened.head} commits`} …`}</p>}
    </section>
  )
}
