/** A turn: what was said and what came of it, along the rail. */
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { useModel } from '../hooks.ts'
import type { Answer, Block, FileRef, Said } from '../model.ts'
import { usePreferences } from '../preferences.ts'
import { clockOf, isFromModel, spanOf, useOf } from '../rules/format.rules.ts'
import { foldOf, type Turn, textOfAnswer } from '../rules/turns.rules.ts'
import { Ask } from './ask.tsx'
import { Copy } from './copy.tsx'
import { Files } from './files.tsx'
import { Icon, Sign, type SignName } from './icons.tsx'
import { Problem } from './problem.tsx'
import { Prose } from './prose.tsx'
import { ToolCard } from './tool-card.tsx'
import { useWhole } from './whole.tsx'

type TurnProps = {
  turn: Turn
  conversation: string
  last: boolean
  doing: string | undefined
  onAgain(text: string, files?: readonly FileRef[]): void
}

/** The same nodes as long as nothing of it has changed, however often the log is drawn. */
export const TurnOf = ({ turn, conversation, last, doing, onAgain }: TurnProps) =>
  useMemo(() => <Drawn turn={turn} conversation={conversation} last={last} doing={doing} onAgain={onAgain} />, [turn, conversation, last, doing])

const Drawn = ({ turn, conversation, last, doing, onAgain }: TurnProps) => {
  const { answer } = turn
  const live = answer?.state === 'running'
  const waits = last && !answer && turn.said.some(({ state }) => state === 'sent')
  // It does not go on by itself: the rail ends at the question.
  const asks = answer?.blocks.some((block) => block.type === 'ask' && !block.decided)
  const said = turn.said.map(({ text }) => text).join('\n\n')
  const files = turn.said.flatMap((one) => one.files ?? [])
  return (
    <article class={`turn${(live && !asks) || waits ? ' live' : ''}${last ? '' : ' past'}`} data-turn={turn.id}>
      <h2 class="unseen">{turn.at === undefined ? 'A turn' : `Turn of ${clockOf(turn.at)}`}</h2>
      {turn.said.map((message) => (
        <SaidStep key={message.id} said={message} conversation={conversation} />
      ))}
      {answer?.blocks.map((block, index) => (
        <BlockStep key={keyOf(block)} block={block} conversation={conversation} live={live} open={live && index === answer.blocks.length - 1} />
      ))}
      {(waits || (live && (answer.blocks.length === 0 || doing !== undefined))) && <Begun doing={doing} />}
      {answer && answer.state !== 'running' && (
        <End
          answer={answer}
          conversation={conversation}
          onAgain={said || files.length > 0 ? () => onAgain(said, files) : undefined}
          onGoOn={() => onAgain('Go on.')}
        />
      )}
      {turn.notices.map((notice) => (
        <Step key={notice.id} sign={<Sign name="aside" />}>
          {notice.kind === 'summary' ? <Shortened text={notice.text} /> : <aside class="notice">{notice.text}</aside>}
        </Step>
      ))}
    </article>
  )
}

const Shortened = ({ text }: { text: string }) => {
  const [open, show] = useState(false)
  return (
    <div class="thinking">
      <button type="button" class="fold" aria-expanded={open} onClick={() => show(!open)}>
        <Icon name="chevron" />
        What was said before was shortened to a summary
      </button>
      {open && (
        <div class="inner">
          <Prose text={text} live={false} />
        </div>
      )}
    </div>
  )
}

const keyOf = (block: Block): string => {
  if (block.type === 'tool') return `tool ${block.callId}`
  return block.type === 'ask' ? `ask ${block.approval.callId} ${block.approval.attempt}` : `${block.type} ${block.id}`
}

const Step = ({ sign, kind = '', children }: { sign?: ComponentChildren; kind?: string; children: ComponentChildren }) => (
  <div class={`step ${kind}`}>
    {sign}
    {children}
  </div>
)

/** Taken in, and nothing has been said yet. */
const Begun = ({ doing = 'Begun' }: { doing: string | undefined }) => (
  <Step sign={<Sign name="thinking" />}>
    <p class="begun">{doing}</p>
  </Step>
)

const SaidStep = ({ said, conversation }: { said: Said; conversation: string }) => (
  <Step kind={`said-step ${said.state}`} sign={<Sign name="first" />}>
    {said.files && <Files files={said.files} conversation={conversation} kept={said.state === 'sent'} />}
    {said.text !== '' && <SaidText said={said} conversation={conversation} />}
    <p class="meta">
      <span>You{said.at === undefined ? '' : `, ${clockOf(said.at)}`}</span>
      {said.state === 'sending' && <span>sending…</span>}
      {said.state === 'unsent' && <span class="waits">Not sent yet</span>}
    </p>
  </Step>
)

type SaidTextProps = { said: { id: string; text: string; cut?: number }; conversation: string }

const SaidText = ({ said, conversation }: SaidTextProps) => {
  const { text, offer, isWhole } = useWhole(conversation, { messageId: said.id, role: 'user', part: 'text' }, said.text, said.cut)
  const [chosen, show] = useState<boolean>()
  const all = chosen ?? isWhole
  const fold = foldOf(text)
  return (
    <div class="said">
      <div class="words" dir="auto">
        {fold && !all ? fold.head : text}
      </div>
      {offer}
      {fold && !offer && (
        <button type="button" class="link" aria-expanded={all} onClick={() => show(!all)}>
          {all ? 'Show less' : 'Show all'}
        </button>
      )}
    </div>
  )
}

const toolSign = { waiting: '', running: 'run', done: '', error: 'fail', skipped: '' } as const

const BlockStep = ({ block, conversation, live, open }: { block: Block; conversation: string; live: boolean; open: boolean }) => {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? null : (
        <Step>
          <Text block={block} conversation={conversation} open={open} />
        </Step>
      )
    case 'thinking':
      return (
        <Step sign={<Sign name="thinking" tone={open ? 'run' : ''} />}>
          <Thinking block={block} conversation={conversation} open={open} />
        </Step>
      )
    case 'tool':
      return (
        <Step kind="card-step" sign={<Sign name={block.state === 'error' ? 'tool-failed' : 'tool'} tone={toolSign[block.state]} />}>
          <ToolCard call={block} conversation={conversation} />
        </Step>
      )
    case 'ask':
      return (
        <Step
          kind={block.decided ? '' : 'card-step'}
          sign={<Sign name="choice" tone={block.decided ? '' : block.approval.why === 'in_doubt' ? 'doubt' : 'wait'} />}
        >
          <Ask ask={block} />
        </Step>
      )
    case 'joined':
      return (
        <Step kind="joined">
          <svg class="merge" viewBox="0 0 28 34" aria-hidden="true">
            <path d="M27 14C11 14 1.5 18 1.5 34" />
          </svg>
          {block.files && <Files files={block.files} conversation={conversation} />}
          {block.text !== '' && <SaidText said={block} conversation={conversation} />}
          <p class="meta">
            <span>You{block.at === undefined ? '' : `, ${clockOf(block.at)}`}</span>
            <span>joined the {live ? 'running ' : ''}turn here</span>
          </p>
        </Step>
      )
    case 'resumed':
      return (
        <Step kind="gap" sign={<Sign name="history" />}>
          <p class="resumed">
            <span>Continued after a restart</span>
            <span class="fine num">
              {[block.at === undefined ? undefined : clockOf(block.at), block.awayMs === undefined ? undefined : `away for ${spanOf(block.awayMs)}`]
                .filter(Boolean)
                .join(', ')}
            </span>
          </p>
        </Step>
      )
  }
}

type TextProps<Type> = { block: Extract<Block, { type: Type }>; conversation: string; open: boolean }

const Text = ({ block: { id, text: known, cut, lines }, conversation, open }: TextProps<'text'>) => {
  const { text, offer } = useWhole(conversation, { messageId: id, role: 'assistant', part: 'text' }, known, cut)
  return (
    <>
      <Prose text={text} live={open} lines={lines} />
      {offer}
    </>
  )
}

const Thinking = ({ block: { id, thinking, durationMs, cut }, conversation, open }: TextProps<'thinking'>) => {
  const { text, offer } = useWhole(conversation, { messageId: id, role: 'assistant', part: 'reasoning' }, thinking, cut)
  const { preferences } = usePreferences()
  const [chosen, choose] = useState<boolean>()
  const unfolded = chosen ?? preferences.openThinking
  const name = open ? 'Thinking…' : durationMs === undefined ? 'Thought' : `Thought for ${spanOf(durationMs)}`
  return (
    <div class="thinking">
      <button type="button" class="fold" aria-expanded={unfolded} onClick={() => choose(!unfolded)}>
        <Icon name="chevron" />
        {name}
      </button>
      {unfolded && (
        <div class="inner">
          <Prose text={text} live={open} />
          {offer}
        </div>
      )}
    </div>
  )
}

const ends: Record<Exclude<Answer['state'], 'running'>, SignName> = { final: 'completed', aborted: 'stopped', error: 'failed' }

type EndProps = { answer: Answer; conversation: string; onAgain: (() => void) | undefined; onGoOn(): void }

const End = ({ answer, conversation, onAgain, onGoOn }: EndProps) => {
  const model = useModel()
  const { preferences } = usePreferences()
  if (answer.state === 'running') return null
  const text = textOfAnswer(answer)
  const use = preferences.showUse ? useOf(answer) : ''
  const cut = answer.state === 'final' ? cutBy[answer.stopReason ?? ''] : undefined
  // To say a command again, or what nobody has asked, is no other answer.
  const hasAgain = answer.state === 'final' && isFromModel(answer)
  const isBudget = answer.error?.code.startsWith('budget_')
  return (
    <>
      {answer.state === 'error' && (
        <Step kind="card-step" sign={<Sign name="failed" tone="fail" />}>
          <Problem error={answer.error ?? { message: 'The turn failed' }}>
            {isBudget ? (
              <button type="button" class="button" onClick={onGoOn}>
                Go on
              </button>
            ) : (
              onAgain && (
                <button type="button" class="button" onClick={onAgain}>
                  <Icon name="again" />
                  Try again
                </button>
              )
            )}
          </Problem>
        </Step>
      )}
      {(answer.state !== 'error' || text !== '') && (
        <Step kind="end-step" sign={answer.state === 'error' ? undefined : <Sign name={ends[answer.state]} />}>
          <div class="end">
            {answer.state === 'aborted' && <span>Stopped. {text === '' ? '' : 'What was said is kept.'}</span>}
            {cut && <span>{cut}</span>}
            {answer.label && <span>{answer.label}</span>}
            {use && <span class="num">{use}</span>}
            <span class="does">
              {answer.state === 'aborted' && (
                <button type="button" class="link" onClick={onGoOn}>
                  Go on
                </button>
              )}
              {text !== '' && <Copy text={text} />}
              {onAgain && hasAgain && (
                <button type="button" class="link" title="Says the same once more" onClick={onAgain}>
                  <Icon name="again" />
                  Again
                </button>
              )}
              {model.inspector && (
                <a class="link" href={model.inspector(conversation, answer.id)} title="Look into this turn">
                  <Icon name="why" />
                  Why?
                </a>
              )}
            </span>
          </div>
        </Step>
      )}
    </>
  )
}

/** Ends that leave something out. */
const cutBy: Record<string, string> = { length: 'The model reached its longest answer.', 'content-filter': 'The provider cut the answer off.' }
