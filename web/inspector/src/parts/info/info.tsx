/** The details of a moment, in a fixed order. */
import type { InspectorView } from '../../model.ts'
import type { Box } from '../../rules/actors.rules.ts'
import { VerdictSection } from '../verdict.tsx'
import { Asks } from './ask.tsx'
import { ModelCall, ToolCall } from './calls.tsx'
import { Diff } from './diff.tsx'
import { EventHead, Inputs } from './event.tsx'
import { Holds } from './holds.tsx'
import { Why } from './why.tsx'

export const Info = ({ view, box }: { view: InspectorView; box: Box | undefined }) => {
  const row = view.recorded.rows[view.place.seq - 1]
  const looked = view.looked?.seq === view.place.seq ? view.looked : undefined
  return (
    <aside class="info" aria-label="Details" data-look={looked?.seq} aria-busy={view.folding !== undefined && looked === undefined}>
      {row && (
        <>
          <EventHead view={view} row={row} />
          <Asks view={view} />
          {box && <Why view={view} box={box} />}
          {box && <Diff view={view} box={box} />}
          <ModelCall view={view} />
          {box && <ToolCall view={view} box={box} />}
          {looked && <Inputs detail={looked.detail} row={row} view={view} />}
          {looked && box && <Holds view={view} box={box} />}
          <VerdictSection view={view} />
        </>
      )}
    </aside>
  )
}
