/** The conversation, oldest first, along the rail. */
import type { Ref } from 'preact'
import { useEffect, useImperativeHandle, useMemo, useRef } from 'preact/hooks'
import { useLasting, useModel } from '../hooks.ts'
import type { Current, FileRef } from '../model.ts'
import { type Turn, turnsOf } from '../rules/turns.rules.ts'
import { useFollowing } from './following.ts'
import { Hello } from './hello.tsx'
import { Icon, Sign } from './icons.tsx'
import { TurnOf } from './turn.tsx'

export type LogHandle = { said(): void }

type LogProps = {
  current: Current
  tools: readonly string[] | undefined
  handle: Ref<LogHandle>
  onAgain(text: string, files?: readonly FileRef[]): void
  onStart(text: string): void
}

export const Log = ({ current, tools, handle, onAgain, onStart }: LogProps) => {
  const log = useRef<HTMLElement>(null)
  const column = useRef<HTMLDivElement>(null)
  const { following, happened } = useFollowing(log, column, current.key)
  useImperativeHandle(handle, () => ({ said: () => happened({ type: 'said' }) }), [happened])
  const before = useRef<Turn[]>([])
  const turns = useMemo(() => turnsOf(current.entries, before.current), [current.entries])
  before.current = turns
  const bones = useLasting(current.loading && turns.length === 0, 150)
  const isEmpty = !current.loading && turns.length === 0 && current.waiting.length === 0
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to get there */}
      <section class="log" tabIndex={0} aria-label="Conversation" ref={log} data-log>
        <div class={isEmpty ? 'column full' : 'column'} ref={column}>
          {current.earlier && <Earlier earlier={current.earlier} />}
          {turns.map((turn, index) => (
            <TurnOf
              key={`${current.key} ${turn.id}`}
              turn={turn}
              conversation={current.key}
              last={index === turns.length - 1}
              doing={index === turns.length - 1 ? current.doing : undefined}
              onAgain={onAgain}
            />
          ))}
          {bones && <Bones />}
          {isEmpty && <Hello tools={tools} onStart={onStart} />}
        </div>
      </section>
      {!following && <Latest turns={turns} onLatest={() => happened({ type: 'latest' })} />}
    </>
  )
}

const Earlier = ({ earlier }: { earlier: NonNullable<Current['earlier']> }) => {
  const model = useModel()
  const { count, loading } = earlier
  const place = useRef<HTMLParagraphElement>(null)
  // Whoever reaches the beginning wants what stands before it.
  useEffect(() => {
    if (loading || !place.current) return
    const observer = new IntersectionObserver((seen) => seen.some(({ isIntersecting }) => isIntersecting) && model.loadEarlier())
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [model, loading])
  return (
    <p class="earlier" ref={place}>
      <button type="button" class="button quiet" disabled={loading} onClick={() => model.loadEarlier()}>
        <Icon name="up" />
        {loading ? 'Reading earlier messages…' : count === undefined ? 'Earlier messages' : `${count} earlier message${count === 1 ? '' : 's'}`}
      </button>
    </p>
  )
}

const blocksIn = (turns: readonly Turn[]): number =>
  turns.reduce((sum, { said, answer, notices }) => sum + said.length + notices.length + (answer?.blocks.length ?? 0), 0)

/** The way back to the end, with how much has come since the end was left. */
const Latest = ({ turns, onLatest }: { turns: readonly Turn[]; onLatest(): void }) => {
  const all = blocksIn(turns)
  const then = useRef(all)
  const fresh = all - then.current
  return (
    <div class="latest-place">
      <button type="button" class="button latest" onClick={onLatest}>
        <Icon name="last" />
        {fresh > 0 ? `Latest, ${fresh} new` : 'Latest'}
      </button>
    </div>
  )
}

const Bones = () => (
  <div class="reading">
    <p role="status" class="unseen">
      Reading the conversation
    </p>
    {[0, 1].map((turn) => (
      <div class="turn" key={turn} aria-hidden="true">
        <div class="step">
          <Sign name="first" />
          <span class="bone said-bone" />
        </div>
        <div class="step">
          <Sign name="thinking" />
          {[0, 1, 2, 3, 4].map((line) => (
            <span class="bone" key={line} />
          ))}
        </div>
      </div>
    ))}
    <p class="fine">Reading what was said. You can write already.</p>
  </div>
)
