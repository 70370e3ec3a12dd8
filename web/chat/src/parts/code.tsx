/** A block of code: its language, Copy, and colours once it is whole. */
import { useEffect, useState } from 'preact/hooks'
import type { Piece } from '../markdown/highlight.ts'
import { Copy } from './copy.tsx'
import { Wide } from './wide.tsx'

export const Code = ({ text, language, closed }: { text: string; language: string; closed: boolean }) => {
  const pieces = useColours(text, language, closed)
  return (
    <div class="code">
      <div class="bar">
        <span>{language || 'text'}</span>
        <Copy text={text} />
      </div>
      <Wide label={`Code${language ? `, ${language}` : ''}`}>
        <pre>
          <code>
            {pieces
              ? pieces.map((piece, index) =>
                  piece.kind ? (
                    <span key={index} class={piece.kind}>
                      {piece.text}
                    </span>
                  ) : (
                    piece.text
                  ),
                )
              : text}
          </code>
        </pre>
      </Wide>
    </div>
  )
}

const useColours = (text: string, language: string, closed: boolean): readonly Piece[] | undefined => {
  const [coloured, set] = useState<{ text: string; pieces: readonly Piece[] | undefined }>()
  useEffect(() => {
    if (!closed || language === '') return
    let wanted = true
    import('../markdown/highlight.ts').then(
      ({ piecesOf }) => wanted && set({ text, pieces: piecesOf(text, language) }),
      // The file that colours it could not be loaded; it can be read without.
      () => undefined,
    )
    return () => {
      wanted = false
    }
  }, [text, language, closed])
  return coloured?.text === text ? coloured.pieces : undefined
}
