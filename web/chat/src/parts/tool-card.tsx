/** A tool call: one line when nothing is to be seen, everything about it when it is unfolded. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useNow } from '../hooks.ts'
import type { ToolBlock } from '../model.ts'
import { gistOf, resultOf, spanOf } from '../rules/format.rules.ts'
import { foldOf } from '../rules/turns.rules.ts'
import { Copy } from './copy.tsx'
import { Icon } from './icons.tsx'
import { useWhole } from './whole.tsx'

export const ToolCard = ({ call, conversation }: { call: ToolBlock; conversation: string }) => {
  // Running and failed ones are open, finished ones are not; whoever opens or closes one has the last word.
  const [chosen, choose] = useState<boolean>()
  const running = call.state === 'running'
  const open = chosen ?? (running || call.state === 'error')
  return (
    <section class={`card ${call.state}`} aria-label={`Tool call ${call.name}`}>
      <button type="button" class="top" aria-expanded={open} onClick={() => choose(!open)}>
        <span class="tool">{call.name}</span>
        <span class="gist">{gistOf(call.input)}</span>
        <Outcome call={call} />
        <Icon name="chevron" />
      </button>
      {open && (
        <div class="body">
          {running && <Running progress={call.progress} name={call.name} />}
          {call.message !== undefined && <p class="why">{call.message}</p>}
          {chosen !== undefined || !running ? (
            <dl>
              {call.input !== undefined && (
                <Row name="Arguments">
                  <Folded text={resultOf(call.input)} />
                </Row>
              )}
              {call.output !== undefined && (
                <Row name="Result">
                  <Result call={call} conversation={conversation} />
                </Row>
              )}
            </dl>
          ) : null}
        </div>
      )}
    </section>
  )
}

const Row = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

const Outcome = ({ call }: { call: ToolBlock }) => {
  const now = useNow(1000, call.state === 'running' && call.startedAt !== undefined)
  const took = call.state === 'running' && call.startedAt !== undefined ? Math.max(0, now - call.startedAt) : call.durationMs
  // The first second is not counted aloud.
  const span = took === undefined || (call.state === 'running' && took < 1000) ? undefined : spanOf(took)
  return <span class="status num">{[words[call.state](call), span].filter(Boolean).join(', ')}</span>
}

const words: Record<ToolBlock['state'], (call: ToolBlock) => string> = {
  waiting: () => 'waits',
  running: ({ progress }) => {
    const steps = stepsOf(progress)
    return steps ? `${steps.done} of ${steps.all}` : 'running'
  },
  done: ({ output }) => {
    const lines = typeof output === 'string' ? output.trimEnd().split('\n').length : 0
    return lines > 1 ? `${lines} lines` : 'done'
  },
  error: () => 'failed',
  skipped: () => 'skipped',
}

/** What tools say of themselves has no form of its own; these are the ones that can be drawn. */
const stepsOf = (progress: unknown): { done: number; all: number } | undefined => {
  if (typeof progress !== 'object' || progress === null) return undefined
  const { done, progress: at, current, total } = progress as Record<string, unknown>
  const count = [done, at, current].find((value) => typeof value === 'number')
  return typeof count === 'number' && typeof total === 'number' && total > 0 ? { done: count, all: total } : undefined
}

const lineOf = (progress: unknown): string => {
  if (typeof progress === 'object' && progress !== null) {
    const { message, text } = progress as Record<string, unknown>
    const said = message ?? text
    return typeof said === 'string' ? said : stepsOf(progress) ? '' : gistOf(progress)
  }
  return progress === undefined ? '' : (resultOf(progress).trimEnd().split('\n').at(-1) ?? '')
}

const Running = ({ progress, name }: { progress: unknown; name: string }) => {
  const steps = stepsOf(progress)
  const line = lineOf(progress)
  return (
    <>
      {steps && <progress aria-label={name} max={steps.all} value={steps.done} />}
      {line && <p class="lastline">{line}</p>}
    </>
  )
}

const Result = ({ call, conversation }: { call: ToolBlock; conversation: string }) => {
  const { text, offer, isWhole } = useWhole(conversation, { callId: call.callId }, resultOf(call.output), call.cut)
  return (
    <>
      <Folded key={isWhole ? 'whole' : 'cut'} text={text} unfolded={isWhole} />
      {offer}
    </>
  )
}

/** The first lines of a long text, and all of it when that is wanted. */
const Folded = ({ text, unfolded = false }: { text: string; unfolded?: boolean }) => {
  const [all, show] = useState(unfolded)
  const fold = foldOf(text)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls in itself */}
      <pre tabIndex={0}>{fold && !all ? fold.head : text}</pre>
      <div class="more">
        <Copy text={text} />
        {fold && (
          <button type="button" class="link" aria-expanded={all} onClick={() => show(!all)}>
            {all ? 'Less' : fold.lines > 12 ? `All ${fold.lines} lines` : 'All of it'}
          </button>
        )}
      </div>
    </>
  )
}
