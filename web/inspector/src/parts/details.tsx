/** What happened in the commit that is looked at: the event, what waits for a person, why, what changed, what went in and out. */
import { useState } from 'preact/hooks'
import type { ActorAt } from '../../../../src/contracts/inspection.ts'
import type { Model, Opened } from '../model.ts'
import { changesOf } from '../rules/diff.rules.ts'
import { jsonText, momentText } from '../rules/text.rules.ts'
import { Calls } from './calls.tsx'
import { Text, Value } from './text.tsx'
import { Why } from './why.tsx'

export const Details = ({ opened, model }: { opened: Opened; model: Model }) => {
  const { look, rows, seq, error, actor: path } = opened
  const row = rows[seq - 1]
  const actor = look?.moment.actors.find((one) => one.path === path)
  const before = look?.before?.actors.find((one) => one.path === path)
  return (
    <aside class="details" aria-label="Details" data-look={look?.seq}>
      {error && (
        <section role="alert" class="trouble">
          <b>{error.code}</b> <Text>{error.message}</Text>
          {error.hint !== undefined && (
            <p class="fine">
              <Text>{error.hint}</Text>
            </p>
          )}
        </section>
      )}
      {row && (
        <section>
          {row.marks.length === 0 && <h2>{row.host[0] ?? 'nothing came in'}</h2>}
          {row.marks.map((mark, index) => (
            <h2 key={`${mark.path} ${index}`} class="mono">
              <span class={`mark ${mark.kind}`} /> <Text>{mark.event}</Text>{' '}
              <span class="fine">
                <Text>{mark.path}</Text>
              </span>
            </h2>
          ))}
          <p class="fine mono">
            commit {row.seq} · {momentText(row.at)} · epoch {row.epoch} · <Text>{row.writer}</Text>
          </p>
        </section>
      )}
      <Approvals opened={opened} model={model} />
      {look && <Why steps={look.steps.steps} path={actor?.kind === 'effect' ? (actor.parent ?? '/') : path} />}
      {look && <Calls steps={look.steps.steps} />}
      {look && <Came look={look} />}
      {look && <Changes before={before} after={actor} seq={seq} />}
      {actor && <Holds actor={actor} />}
    </aside>
  )
}

const Approvals = ({ opened: { approvals, seq, rows }, model }: { opened: Opened; model: Model }) => {
  if (approvals.length === 0) return null
  if (seq !== rows.length)
    return (
      <section class="wanted">
        <p>A decision is wanted now.</p>
        <button type="button" class="button" onClick={() => model.follow(true)}>
          Go there
        </button>
      </section>
    )
  return (
    <>
      {approvals.map((approval) => (
        <section key={approval.callId} class="wanted" aria-label="Decision wanted">
          <h2>
            <Text>{approval.name}</Text> asks for permission
          </h2>
          <Value value={approval.input} />
          <div class="row">
            <button type="button" class="button primary" onClick={() => void model.decide(approval, 'approve')}>
              Approve
            </button>
            <button type="button" class="button" onClick={() => void model.decide(approval, 'deny')}>
              Deny
            </button>
          </div>
        </section>
      ))}
    </>
  )
}

/** Events that were delivered, each with what it carries. */
const Came = ({ look: { steps } }: { look: NonNullable<Opened['look']> }) => {
  const [whole, setWhole] = useState(false)
  const events = steps.steps.flatMap((step) => (step.type === 'event' ? [step] : []))
  if (events.length === 0) return null
  const shown = whole ? events : events.slice(0, 6)
  return (
    <section>
      <h2>Events</h2>
      {shown.map(({ path, from, event }, index) => {
        const { type, ...rest } = event
        return (
          <details key={`${index} ${type}`}>
            <summary class="mono">
              <Text>{type}</Text>{' '}
              <span class="fine">
                <Text>{`${from === undefined ? 'from outside' : from} → ${path}`}</Text>
              </span>
            </summary>
            <Value value={rest} />
          </details>
        )
      })}
      {shown.length < events.length && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          {events.length - shown.length} more
        </button>
      )}
    </section>
  )
}

const Changes = ({ before, after, seq }: { before: ActorAt | undefined; after: ActorAt | undefined; seq: number }) => {
  if (!after) return null
  const changes = changesOf(before?.context, after.context)
  return (
    <section>
      <h2>
        Context, {seq - 1} to {seq}
      </h2>
      {changes.length === 0 && <p class="fine">unchanged</p>}
      <ul class="changes">
        {changes.slice(0, 30).map(({ place, sign, before: was, after: is }) => (
          <li key={place} class="mono">
            <span class="sign">{sign}</span>{' '}
            <b>
              <Text>{place}</Text>
            </b>{' '}
            {sign !== '+' && (
              <del>
                <Text>{jsonText(was).slice(0, 200)}</Text>
              </del>
            )}{' '}
            {sign !== '−' && (
              <ins>
                <Text>{jsonText(is).slice(0, 200)}</Text>
              </ins>
            )}
          </li>
        ))}
      </ul>
      {changes.length > 30 && <p class="fine">and {changes.length - 30} more</p>}
    </section>
  )
}

const Holds = ({ actor: { input, context, output, error } }: { actor: ActorAt }) => (
  <>
    {(
      [
        ['Input', input],
        ['Output', output],
        ['Error', error],
        ['Context', context],
      ] as const
    ).map(([name, value]) =>
      value === undefined ? null : (
        <section key={name}>
          <details>
            <summary>{name}</summary>
            <Value value={value} />
          </details>
        </section>
      ),
    )}
  </>
)
