/** What a session asks of its children and tells them, apart from its chart. */
import type { AnyActorRef } from 'xstate'
import type { Admission, DeskRequest } from '../../contracts/desk.ts'

type Enqueue = { sendTo(desk: 'desk', request: DeskRequest): void }
/** Nobody hears remarks on a message that is refused. */
export const remind = (enqueue: Enqueue, { id, annotations, remarks }: Admission, steered = false): void => {
  if (remarks) enqueue.sendTo('desk', { type: 'accepted', id, annotations, remarks, steered })
}

/** The turn has begun nothing yet: too many run at once. */
export const waitsInLane = (session: AnyActorRef): boolean => session.getSnapshot().children.turn?.getSnapshot().value === 'waiting'
