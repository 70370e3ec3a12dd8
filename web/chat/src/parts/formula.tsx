/** A formula. Until it can be set, and where it cannot, its source stands there as it was written. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Wide } from './wide.tsx'

type Draw = typeof import('../markdown/formula.ts').drawFormula

export const Formula = ({ source, raw, display }: { source: string; raw: string; display: boolean }) => {
  const draw = useDraw()
  const place = useRef<HTMLSpanElement>(null)
  const [failed, fail] = useState<string>()
  useLayoutEffect(() => {
    if (!draw || !place.current) return
    try {
      draw(source, place.current, display)
      fail(undefined)
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error))
    }
  }, [draw, source, display])
  const asText = !draw || failed !== undefined
  const formula = (
    <>
      <span ref={place} hidden={asText} />
      {asText && (
        <code class="source" title={failed}>
          {raw.trim()}
        </code>
      )}
    </>
  )
  if (!display) return formula
  return (
    <Wide label="Formula">
      <div class="formula">{formula}</div>
    </Wide>
  )
}

const useDraw = (): Draw | undefined => {
  const [draw, set] = useState<Draw>()
  useEffect(() => {
    let wanted = true
    import('../markdown/formula.ts').then(
      ({ drawFormula }) => wanted && set(() => drawFormula),
      () => undefined,
    )
    return () => {
      wanted = false
    }
  }, [])
  return draw
}
