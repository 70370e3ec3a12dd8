/** What a model was asked and has answered in this commit, and what tools were given and gave. */
import type { Step } from '../../../../src/contracts/inspection.ts'
import type { ModelCallOutput } from '../../../../src/contracts/model-call.ts'
import { costOf, countOf, spanOf } from '../../../chat/src/rules/format.rules.ts'
import { Text, Value } from './text.tsx'

type Delivered = Extract<Step, { type: 'event' }>

/** What effects have said in this commit, by the actor that said it. */
const resultsIn = (steps: readonly Step[]): { path: string; data: unknown; failed: boolean }[] =>
  steps
    .filter((step): step is Delivered => step.type === 'event' && step.from === step.path)
    .flatMap(({ path, event: { type, data } }) =>
      type === 'xstate.promise.resolve' || type === 'xstate.promise.reject' ? [{ path, data, failed: type.endsWith('reject') }] : [],
    )

const isModelCall = (data: unknown): data is ModelCallOutput => typeof data === 'object' && data !== null && 'kind' in data && data.kind === 'model'

export const Calls = ({ steps }: { steps: readonly Step[] }) => (
  <>
    {resultsIn(steps).map(({ path, data, failed }) =>
      isModelCall(data) ? (
        <ModelCall key={path} path={path} call={data} />
      ) : (
        <section key={path}>
          <h2>
            {failed ? 'Failed' : 'Result'}{' '}
            <span class="fine mono">
              <Text>{path}</Text>
            </span>
          </h2>
          <Value value={data} />
        </section>
      ),
    )}
  </>
)

const ModelCall = ({ path, call }: { path: string; call: ModelCallOutput }) => {
  const { model, usage, text, reasoning, calls, durationMs, costUsd, finish, prompt } = call
  const facts = [
    `${countOf(usage.inputTokens)} in, ${countOf(usage.outputTokens)} out`,
    ...(usage.cachedInputTokens > 0 ? [`${countOf(usage.cachedInputTokens)} cached`] : []),
    ...(durationMs === undefined ? [] : [spanOf(durationMs)]),
    ...(costUsd === undefined ? [] : [costOf(costUsd)]),
    ...(finish === undefined ? [] : [finish]),
  ]
  return (
    <section>
      <h2>
        Model call{' '}
        <span class="fine mono">
          <Text>{path}</Text>
        </span>
      </h2>
      <p class="mono">
        <Text>{model}</Text>
      </p>
      <p class="fine">{facts.join(' · ')}</p>
      {reasoning !== '' && (
        <details>
          <summary>Reasoning</summary>
          <Value value={reasoning} />
        </details>
      )}
      {text !== '' && <Value value={text} />}
      {calls.map(({ callId, name, input }) => (
        <div key={callId}>
          <p class="mono">
            calls{' '}
            <b>
              <Text>{name}</Text>
            </b>
          </p>
          <Value value={input} />
        </div>
      ))}
      {prompt && (
        <details>
          <summary>Prompt, {countOf(prompt.tokens)} tokens</summary>
          <Value value={prompt} />
        </details>
      )}
    </section>
  )
}
