/** Which model answers, and how long it thinks: both from the next turn on. */
import { errorOf, useModel } from '../hooks.ts'
import type { Current, ModelChoice, ThinkingLevel } from '../model.ts'
import { Icon } from './icons.tsx'
import { Item, Pop } from './menu.tsx'
import { titleOf } from './problem.tsx'

type PickProps = { onRefused(message: string): void }

const shortOf = (id: string): string => id.replace(/^[^/]*\//, '')

export const ModelPick = ({ current, models, onRefused }: PickProps & { current: Current; models: readonly ModelChoice[] }) => {
  const model = useModel()
  const name = current.model === undefined ? 'Model' : shortOf(current.model)
  return (
    <Pop class="pick" at="above" name={`Model: ${name}`} label={<Label text={name} />}>
      {(close) => (
        <>
          <p class="pop-title">Answers from the next turn on</p>
          {models.map(({ id, detail, unavailable }) => (
            <Item
              key={id}
              checked={id === current.model}
              disabled={unavailable !== undefined}
              detail={unavailable ?? detail}
              onChoose={() => {
                close()
                model.setModel(id).catch((reason: unknown) => onRefused(titleOf(errorOf(reason))))
              }}
            >
              {id}
            </Item>
          ))}
        </>
      )}
    </Pop>
  )
}

const levels: Record<ThinkingLevel, { name: string; detail?: string }> = {
  off: { name: 'Off' },
  minimal: { name: 'Minimal' },
  low: { name: 'Low', detail: 'a few seconds' },
  medium: { name: 'Medium' },
  high: { name: 'High', detail: 'slower and dearer, for hard questions' },
  xhigh: { name: 'Highest' },
  adaptive: { name: 'Adaptive', detail: 'as long as the question needs' },
}

export const ThinkingPick = ({ current, choices, onRefused }: PickProps & { current: Current; choices: readonly ThinkingLevel[] }) => {
  const model = useModel()
  const name = current.thinking === undefined ? 'Default' : levels[current.thinking].name
  const choose = (level: ThinkingLevel | null) => {
    model.setThinking(level).catch((reason: unknown) => onRefused(titleOf(errorOf(reason))))
  }
  return (
    <Pop class="pick think-pick" at="above" name={`Thinking: ${name}`} label={<Label text={name} bulb />}>
      {(close) => (
        <>
          <p class="pop-title">How long it thinks</p>
          {[undefined, ...choices].map((level) => (
            <Item
              key={level ?? 'default'}
              checked={level === current.thinking}
              detail={level ? levels[level].detail : 'as the agent has it'}
              onChoose={() => {
                close()
                choose(level ?? null)
              }}
            >
              {level ? levels[level].name : 'Default'}
            </Item>
          ))}
        </>
      )}
    </Pop>
  )
}

const Label = ({ text, bulb = false }: { text: string; bulb?: boolean }) => (
  <>
    {bulb && <Icon name="bulb" />}
    <span>{text}</span>
    <Icon name="down" />
  </>
)
