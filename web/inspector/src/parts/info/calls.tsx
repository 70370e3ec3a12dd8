/** Calls of models and tools: what went in, what came out, how long it took and what it cost. */

import { isRecord } from '../../../../../src/contracts/record.rules.ts'
import type { InspectorView } from '../../model.ts'
import type { Box } from '../../rules/actors.rules.ts'
import { modelCallIn, toolCallAt } from '../../rules/calls.rules.ts'
import { exactClock, spanWords } from '../../rules/ruler.rules.ts'
import { Dot } from '../dot.tsx'
import { Said } from '../text.tsx'
import { LongText, Value } from './value.tsx'

export const ModelCall = ({ view }: { view: InspectorView }) => {
  const { looked, place, spans } = view
  if (looked?.seq !== place.seq) return null
  const call = modelCallIn(looked)
  if (!call) return null
  const { model, facts, text, reasoning, calls, error, prompt, at } = call
  const first = at === undefined ? undefined : firstTokenOf(spans, at, looked.moment.at)
  return (
    <section class="model-call">
      <h3>
        <span>Model call</span>
        <span class="aside mono">
          <Said text={model} />
        </span>
      </h3>
      {error && <Value value={error} seq={looked.seq} />}
      {facts.length > 0 && (
        <dl class="facts">
          {first !== undefined && <Fact name="first token" words={spanWords(first)} />}
          {facts.map(([name, words]) => (
            <Fact key={name} name={name} words={words} />
          ))}
        </dl>
      )}
      {hasText(reasoning) && (
        <details>
          <summary>thinking</summary>
          <p class="answer thinking">
            <LongText text={reasoning} seq={looked.seq} />
          </p>
        </details>
      )}
      {hasText(text) && (
        <p class="answer">
          <LongText text={text} seq={looked.seq} />
        </p>
      )}
      {calls.map((one, index) => (
        <div key={index} class="asked-for">
          <p class="mono">
            asks for{' '}
            <b>
              <Said text={isRecord(one) ? String(one.name) : ''} />
            </b>
          </p>
          <Value value={isRecord(one) ? one.input : one} seq={looked.seq} />
        </div>
      ))}
      {prompt && (
        <details>
          <summary>prompt: {typeof prompt.tokens === 'number' ? `${prompt.tokens} tokens before the conversation` : 'its parts'}</summary>
          <Value value={prompt} seq={looked.seq} />
        </details>
      )}
    </section>
  )
}

const hasText = (text: unknown): boolean => (typeof text === 'string' ? text !== '' : isRecord(text))

/** What this node has observed of the call: known for a while, and nowhere written down. */
const firstTokenOf = (spans: InspectorView['spans'], at: number, until: number): number | undefined => {
  const starts = spans.filter(({ name, start }) => (name === 'first-text' || name === 'first-thinking') && start >= at - 1 && start <= until + 1)
  return starts.length === 0 ? undefined : Math.max(0, Math.min(...starts.map(({ start }) => start)) - at)
}

const Fact = ({ name, words }: { name: string; words: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      <Said text={words} />
    </dd>
  </div>
)

export const ToolCall = ({ view, box }: { view: InspectorView; box: Box }) => {
  const { looked, place, recorded } = view
  if (looked?.seq !== place.seq) return null
  const main = recorded.rows[place.seq - 1]?.marks[0]?.actor
  const call = toolCallAt(looked, recorded.rows, box.path) ?? (main === undefined ? undefined : toolCallAt(looked, recorded.rows, main))
  if (!call) return null
  return (
    <section class="tool-call">
      <h3>
        <span>Tool call</span>
        <span class="aside">
          <Said text={[call.name, call.policy].filter((word) => word !== '').join(' · ')} />
        </span>
      </h3>
      {call.input !== undefined && <Value value={call.input} seq={looked.seq} />}
      {call.attempts.map(({ number, words, at, mood }) => (
        <p key={number} class="attempt">
          <Dot mood={mood} />
          <span>
            attempt {number}, {words}
          </span>
          <span class="aside num">{exactClock(at)}</span>
        </p>
      ))}
      {call.error !== undefined && call.error !== null && <Value value={call.error} seq={looked.seq} />}
      {call.output !== undefined && (
        <>
          <h4>Result</h4>
          <Value value={call.output} seq={looked.seq} />
        </>
      )}
      {call.callId !== '' && (
        <p class="fine">
          key <Said text={call.callId} />
        </p>
      )}
    </section>
  )
}
