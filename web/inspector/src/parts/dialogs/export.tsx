/** A trace to be given away: the node takes out what people said, and the browser saves it. */

import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../../../../../src/contracts/errors.ts'
import { useModel } from '../../hooks.ts'
import type { InspectorView } from '../../model.ts'
import { fileName, save } from '../../save.ts'
import { Said } from '../text.tsx'
import { Dialog } from './dialog.tsx'

export const ExportDialog = ({ view, onClose }: { view: InspectorView; onClose(): void }) => {
  const model = useModel()
  const { subject, place } = view
  const [error, fail] = useState<string>()
  useEffect(() => {
    let isWanted = true
    model.exported().then(
      (text) => {
        if (!isWanted || !subject) return
        save(fileName(subject.id, place.head), text)
        onClose()
      },
      (reason: unknown) => isWanted && fail(messageOf(reason)),
    )
    return () => {
      isWanted = false
    }
  }, [])
  return (
    <Dialog title="Export, redacted" onClose={onClose}>
      <p>
        What was said, names, ids, and what tools were given and answered are replaced. It leads to the same states, and is a test for `statecast test
        --traces`.
      </p>
      {error === undefined ? (
        <p role="status">The node redacts it…</p>
      ) : (
        <p class="failed" role="alert">
          <Said text={error} />
        </p>
      )}
    </Dialog>
  )
}
