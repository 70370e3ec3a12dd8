/** What was cut, and all of it when that is wanted. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { errorOf, useModel } from '../hooks.ts'
import type { CutPart } from '../model.ts'
import { Refusal } from './problem.tsx'

type Whole = { text?: string; state: 'cut' | 'reading' | 'whole'; error?: ReturnType<typeof errorOf> }

/** @returns the text as far as it has been read, and what offers the rest of it */
export const useWhole = (conversation: string, what: CutPart, text: string, cut: number | undefined) => {
  const model = useModel()
  const [whole, set] = useState<Whole>({ state: 'cut' })
  const reading = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => reading.current?.abort(), [])
  const read = async () => {
    const controller = new AbortController()
    reading.current = controller
    const { signal } = controller
    set({ state: 'reading' })
    try {
      await model.readAll(conversation, what, (part) => set({ text: part, state: 'reading' }), signal)
      if (!signal.aborted) set((before) => ({ ...before, state: 'whole' }))
    } catch (error) {
      if (!signal.aborted) set({ state: 'cut', error: errorOf(error) })
    }
  }
  const { state, error } = whole
  const offer = cut !== undefined && state !== 'whole' && (
    <>
      {error && <Refusal error={error} />}
      <button type="button" class="link" disabled={state === 'reading'} onClick={() => void read()}>
        {state === 'reading' ? 'Reading…' : 'Show all'}
      </button>
    </>
  )
  return { text: whole.text ?? text, offer, isWhole: whole.text !== undefined }
}
