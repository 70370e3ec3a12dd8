/** What is not as it should be, and what can be done about it. */
import { useLasting, useModel } from '../hooks.ts'
import type { InspectorView } from '../model.ts'
import { Said } from './text.tsx'

/** ms: shorter breaks are not worth a word. */
const lastingMs = 400

export const Banner = ({ view }: { view: InspectorView }) => {
  const model = useModel()
  const { connection, place, origin, looked } = view
  const isLost = useLasting(connection.state === 'lost', lastingMs)
  if (connection.state === 'refused')
    return (
      <div class="banner fail" role="alert">
        <p>
          The link has no token, or an old one: open the address that <code>statecast up</code> printed. <Said text={connection.error.message} />
        </p>
        <button type="button" class="button" onClick={() => model.reconnect()}>
          Try again
        </button>
      </div>
    )
  if (isLost)
    return (
      <div class="banner wait" role="status">
        <p>The node does not answer. {place.head > 0 ? `What you see is complete up to ${place.head}; trying again.` : 'Trying again.'}</p>
        <button type="button" class="button" onClick={() => model.reconnect()}>
          Try now
        </button>
      </div>
    )
  if (place.corrupt) {
    const { seq, error } = place.corrupt
    return (
      <div class="banner fail" role="alert">
        <p>
          <code>{error.code}</code> {seq}: <Said text={error.message} />.{' '}
          {seq > 1 ? `Moments 1 to ${seq - 1} are sound and open below.` : 'Nothing of it can be read.'}
        </p>
        {seq > 1 && (
          <button type="button" class="button" onClick={() => model.seek(seq - 1)}>
            Open at {seq - 1}
          </button>
        )}
      </div>
    )
  }
  if (place.unreadable && place.error)
    return (
      <div class="banner fail" role="alert">
        <p>
          <code>{place.error.code}</code> <Said text={place.error.message} />
          {place.error.hint && (
            <>
              {' '}
              (<Said text={place.error.hint} />)
            </>
          )}
        </p>
      </div>
    )
  if (place.error && looked?.seq !== place.seq)
    return (
      <div class="banner wait" role="status">
        <p>
          {place.error.code === 'drift' ? 'This build decides otherwise than was recorded: ' : 'This moment could not be folded: '}
          <Said text={place.error.message} />. The states below are those that were recorded{origin ? ` by ${origin.signature.slice(0, 8)}` : ''}.
        </p>
      </div>
    )
  return null
}
