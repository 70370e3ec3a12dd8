import { Dialog } from './dialog.tsx'

const keys: [keys: string[], does: string][] = [
  [['←', '→'], 'one commit back, on'],
  [['⇧←', '⇧→'], 'to the one before, after that touched this actor'],
  [['[', ']'], 'to the error, wait or kill before, after'],
  [['Home', 'End'], 'first, last commit'],
  [['L'], 'follow live'],
  [['↑', '↓'], 'actor above, below'],
  [['Tab', 'Enter'], 'through the chart; open what stands behind a chip'],
  [['D', 'H'], 'dim what is not possible now; coverage as a heat map'],
  [['Z'], 'chart over the whole page'],
  [['F', 'W'], 'fork here, what if'],
  [['C', 'E'], 'copy a link, export redacted'],
  [['/', '?'], 'search, these keys'],
  [['Ctrl', 'wheel'], 'zoom the timeline; on its strip W S zoom and A D move'],
]

export const KeysDialog = ({ onClose }: { onClose(): void }) => (
  <Dialog title="Keyboard" onClose={onClose}>
    <dl class="keys">
      {keys.map(([names, does]) => (
        <div key={does}>
          <dt>
            {names.map((name) => (
              <kbd key={name}>{name}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
)
