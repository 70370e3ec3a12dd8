/** A value from a session, as text. */
import { useState } from 'preact/hooks'
import type { CutText } from '../../fold/protocol.ts'
import { useModel } from '../../hooks.ts'
import { sizeWords, visible } from '../../rules/plain.rules.ts'
import { type Piece, printed } from '../../rules/printed.rules.ts'

/** @param seq of the commit in which its cut texts stand */
export const Value = ({ value, seq }: { value: unknown; seq: number }) => {
  const [all, showAll] = useState(false)
  const { pieces, isWhole } = printed(value, all ? 20_000 : undefined)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and not everybody has a mouse */}
      <pre class="value" tabIndex={0}>
        {pieces.map((piece, index) => (
          <PieceText key={index} piece={piece} seq={seq} />
        ))}
      </pre>
      {!isWhole && !all && (
        <button type="button" class="link" onClick={() => showAll(true)}>
          show all lines
        </button>
      )}
    </>
  )
}

const PieceText = ({ piece, seq }: { piece: Piece; seq: number }) => {
  if (piece.kind === 'cut') return <Cut cut={piece.cut} seq={seq} />
  if (piece.kind === 'plain') return <>{piece.text}</>
  return <bdi class={piece.kind}>{visible(piece.text)}</bdi>
}

export const Cut = ({ cut, seq }: { cut: CutText; seq: number }) => {
  const model = useModel()
  const [whole, set] = useState<string>()
  return (
    <>
      <bdi class="text">{visible(whole ?? cut.cut)}</bdi>
      {whole === undefined && (
        <>
          …{' '}
          <button type="button" class="link" onClick={() => void model.text(seq, cut.at).then(set, () => undefined)}>
            show all {sizeWords(cut.length)}
          </button>
        </>
      )}
    </>
  )
}

/** A text that may have been cut. */
export const LongText = ({ text, seq }: { text: unknown; seq: number }) =>
  typeof text === 'string' ? (
    <bdi>{visible(text)}</bdi>
  ) : typeof text === 'object' && text !== null && 'cut' in text ? (
    <Cut cut={text as CutText} seq={seq} />
  ) : null
