/** Narrow pages show one part at a time, and a decision that is wanted everywhere. */
import type { Approval } from '../../../../src/contracts/turn.ts'
import { Icon } from './icons.tsx'
import { Said } from './text.tsx'

const names = { list: 'Sessions', chart: 'Chart', time: 'Timeline', info: 'Details' } as const
export type Tab = keyof typeof names

export const Tabs = ({ tab, onTab }: { tab: Tab; onTab(tab: Tab): void }) => (
  <nav class="tabs" aria-label="Views">
    {(Object.keys(names) as Tab[]).map((name) => (
      <button key={name} type="button" aria-current={tab === name ? 'true' : undefined} onClick={() => onTab(name)}>
        {names[name]}
      </button>
    ))}
  </nav>
)

export const Todo = ({ approval, onDecide }: { approval: Approval; onDecide(): void }) => (
  <div class={approval.why === 'in_doubt' ? 'todo doubt' : 'todo'}>
    <Icon name={approval.why === 'in_doubt' ? 'doubt' : 'hand'} />
    <span>
      <Said text={approval.name} /> {approval.why === 'in_doubt' ? 'may have run: decide' : 'waits for you'}
    </span>
    <button type="button" class="button primary" onClick={onDecide}>
      Decide
    </button>
  </div>
)
