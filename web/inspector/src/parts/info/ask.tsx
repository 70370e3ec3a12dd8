/** A decision that is wanted: it can be given at the head only. At a past moment it is said how it was answered. */

import { useState } from 'preact/hooks'
import { messageOf } from '../../../../../src/contracts/errors.ts'
import { isRecord } from '../../../../../src/contracts/record.rules.ts'
import type { Approval } from '../../../../../src/contracts/turn.ts'
import { useModel } from '../../hooks.ts'
import type { InspectorView } from '../../model.ts'
import { exactClock } from '../../rules/ruler.rules.ts'
import { Icon } from '../icons.tsx'
import { Said } from '../text.tsx'
import { Value } from './value.tsx'

export const approvalsIn = ({ looked, place }: Pick<InspectorView, 'looked' | 'place'>): Approval[] => {
  const root = looked?.seq === place.seq ? looked.moment.actors[0] : undefined
  const approvals = isRecord(root?.context) ? root.context.approvals : undefined
  return Array.isArray(approvals) ? (approvals as Approval[]) : []
}

export const Asks = ({ view }: { view: InspectorView }) => {
  const isHead = view.place.seq === view.place.head
  return (
    <>
      {approvalsIn(view).map((approval) =>
        isHead ? (
          <Ask key={`${approval.callId} ${approval.attempt}`} view={view} approval={approval} />
        ) : (
          <Answered key={approval.callId} view={view} approval={approval} />
        ),
      )}
    </>
  )
}

const Ask = ({ view, approval }: { view: InspectorView; approval: Approval }) => {
  const model = useModel()
  const [busy, set] = useState<'approve' | 'deny'>()
  const [error, fail] = useState<string>()
  const inDoubt = approval.why === 'in_doubt'
  const decide = (decision: 'approve' | 'deny') => {
    set(decision)
    fail(undefined)
    model.decide(approval, decision).then(
      () => undefined,
      (reason: unknown) => {
        set(undefined)
        fail(messageOf(reason))
      },
    )
  }
  return (
    <section class={inDoubt ? 'ask doubt' : 'ask'}>
      <h3>
        <span class="ask-title">
          <Icon name={inDoubt ? 'doubt' : 'hand'} />
          <Said text={approval.name} /> {inDoubt ? 'may have run' : 'waits for you'}
        </span>
      </h3>
      {inDoubt && <p>The process stopped while it was running, and nobody knows how far it came. Run again, it has the same idempotency key.</p>}
      <Value value={approval.input} seq={view.place.seq} />
      {error !== undefined && (
        <p class="failed" role="alert">
          <Said text={error} />
        </p>
      )}
      {view.mayApprove ? (
        <div class="row">
          <button type="button" class="button primary" disabled={busy !== undefined} onClick={() => decide('approve')}>
            {busy === 'approve' ? 'Approving…' : inDoubt ? 'Run again, same key' : 'Approve'}
          </button>
          <button type="button" class="button" disabled={busy !== undefined} onClick={() => decide('deny')}>
            {busy === 'deny' ? 'Denying…' : inDoubt ? 'Report as in doubt' : 'Deny'}
          </button>
        </div>
      ) : (
        <p class="fine">This token may look and not decide.</p>
      )}
    </section>
  )
}

const Answered = ({ view, approval }: { view: InspectorView; approval: Approval }) => {
  const model = useModel()
  const row = view.recorded.rows.find(({ seq, marks }) => seq > view.place.seq && marks.some(({ event }) => event === 'approve'))
  const words = row?.marks.find(({ event }) => event === 'approve')?.words
  return (
    <section class="ask past">
      <h3>
        <span class="ask-title">
          <Icon name="hand" />
          <Said text={approval.name} /> waits for a person
        </span>
      </h3>
      {row ? (
        <p>
          Answered at{' '}
          <button type="button" class="link" onClick={() => model.seek(row.seq)}>
            {row.seq}
          </button>
          , {exactClock(row.at)}: <Said text={words ?? ''} />.
        </p>
      ) : (
        <p>
          It can be answered{' '}
          <button type="button" class="link" onClick={() => model.live()}>
            at the head
          </button>
          , if it still waits there.
        </p>
      )}
    </section>
  )
}
