/** Fork here, and what if: looking never changes anything, forking always makes a key of its own. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { CommitDetail } from '../../fold/protocol.ts'
import { useModel, useMore } from '../../hooks.ts'
import type { InspectorView } from '../../model.ts'
import { type Changeable, changeableIn, changed, draftOf, draftTrouble, forkKey, notAsked } from '../../rules/forks.rules.ts'
import { Said } from '../text.tsx'
import { Dialog } from './dialog.tsx'
import { type Answers, AnswersField, Footer, KeyField, useFork } from './fields.tsx'

type DialogProps = { view: InspectorView; onClose(): void }

const useKey = ({ subject, list = [], others = [] }: InspectorView) =>
  useState(() =>
    forkKey(
      subject?.id ?? '',
      [...list, ...others].filter(({ kind }) => kind === subject?.kind).map(({ id }) => id),
    ),
  )

export const ForkDialog = ({ view, onClose }: DialogProps) => {
  // Where it stood when it was asked for.
  const [at] = useState(view.place.seq)
  const [key, write] = useKey(view)
  const [answers, choose] = useState<Answers>('recorded')
  const { fork, busy, error } = useFork(onClose)
  return (
    <Dialog title={`Fork at ${at}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          fork({ at, as: key, answers })
        }}
      >
        <p>A new session shares commits 1 to {at}; nothing is copied, and this one goes on untouched.</p>
        <KeyField value={key} onInput={write} />
        <AnswersField value={answers} onChange={choose} />
        <Footer busy={busy} error={error} label="Fork" onClose={onClose} />
      </form>
    </Dialog>
  )
}

const kindWords: Record<Changeable['kind'], string> = {
  decision: 'another decision',
  model: 'another model answer',
  tool: 'another tool result',
  message: 'another message',
  event: 'another event',
  result: 'another result',
}
const draftWords: Record<Exclude<Changeable['kind'], 'decision'>, string> = {
  model: 'The model would have said',
  tool: 'The tool would have answered (JSON, or text)',
  message: 'They would have said',
  event: 'It would have held (JSON)',
  result: 'It would have answered (JSON, or text)',
}

export const WhatIfDialog = ({ view, onClose }: DialogProps) => {
  const [at] = useState(view.place.seq)
  const choices = useMemo(() => changeableIn(view.recorded.rows, at, view.subject?.kind === 'session'), [view.recorded.version, at])
  const [chosen, choose] = useState<Changeable | undefined>(choices[0])
  const { detail, draft, write } = useDraft(chosen)
  const [key, writeKey] = useKey(view)
  const [answers, answer] = useState<Answers>('recorded')
  const { fork, busy, error } = useFork(onClose)
  const list = useRef<HTMLDivElement>(null)
  const more = useMore(list, 'y')
  if (!chosen)
    return (
      <Dialog title={`What if, at ${at}`} onClose={onClose}>
        <p>There is nothing up to this moment that a person would change.</p>
      </Dialog>
    )
  const trouble = detail && draftTrouble(chosen, draft)
  return (
    <Dialog title={`What if, at ${at}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (detail && !trouble) fork({ at: chosen.seq - 1, as: key, answers, change: changed(chosen, detail, draft) })
        }}
      >
        <p>Change one recorded input. A fork goes on from there; this session stays as it is.</p>
        <div class="choices" role="radiogroup" aria-label="Input" ref={list} data-more={more}>
          {choices.map((one) => (
            <label key={`${one.seq} ${one.input}`} class="choice">
              <input type="radio" name="input" checked={one === chosen} onChange={() => choose(one)} />
              <span>
                {kindWords[one.kind]}
                <small>
                  commit {one.seq}: <Said text={one.words} />
                </small>
              </span>
            </label>
          ))}
        </div>
        {chosen.kind === 'decision' ? (
          <p>
            It would have been <b>{draft === 'deny' ? 'denied' : 'allowed'}</b>.
          </p>
        ) : (
          <label class="field">
            <span>{draftWords[chosen.kind]}</span>
            {/* What was recorded comes first, or it would fall upon what somebody has written meanwhile. */}
            <textarea
              rows={4}
              disabled={!detail}
              aria-invalid={trouble !== undefined}
              value={draft}
              onInput={(event) => write(event.currentTarget.value)}
            />
          </label>
        )}
        {trouble !== undefined && (
          <p class="failed" role="status">
            <Said text={trouble} />
          </p>
        )}
        {detail && <NotAsked names={notAsked(chosen, detail)} />}
        <KeyField value={key} onInput={writeKey} />
        <AnswersField value={answers} onChange={answer} />
        <Footer busy={busy || !detail || trouble !== undefined} error={error} label="Fork with this" onClose={onClose} />
      </form>
    </Dialog>
  )
}

/** What a model says instead is all that it says. */
const NotAsked = ({ names }: { names: string[] }) =>
  names.length === 0 ? null : (
    <p>
      {names.length === 1 ? 'Its call of ' : 'Its calls of '}
      {names.map((name, index) => [
        index > 0 && ', ',
        <code key={name}>
          <Said text={name} />
        </code>,
      ])}
      {names.length === 1 ? ' is then not made.' : ' are then not made.'}
    </p>
  )

/** What was recorded, to be written over. */
const useDraft = (chosen: Changeable | undefined) => {
  const model = useModel()
  const [detail, setDetail] = useState<CommitDetail>()
  const [draft, write] = useState('')
  useEffect(() => {
    setDetail(undefined)
    if (!chosen) return
    let isWanted = true
    model.detail(chosen.seq).then(
      (found) => {
        if (!isWanted) return
        setDetail(found)
        write(draftOf(chosen, found))
      },
      () => undefined,
    )
    return () => {
      isWanted = false
    }
  }, [chosen])
  return { detail, draft, write }
}
