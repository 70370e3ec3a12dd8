/** Markdown as nodes of the page. */
import { type ComponentChildren, Fragment } from 'preact'
import { useErrorBoundary, useMemo, useRef } from 'preact/hooks'
import { asIfClosed, type Blocks, blocksOf, noBlocks } from '../markdown/blocks.ts'
import { type BlockNode, type Cell, type Inline, treeOf } from '../markdown/tree.ts'
import { Code } from './code.tsx'
import { Formula } from './formula.tsx'
import { useReveal } from './reveal.ts'
import { Wide } from './wide.tsx'

/** @property live it is being written, and what is new of it is revealed bit by bit @property lines a line of the text is a line on the page */
type ProseProps = { text: string; live: boolean; lines?: boolean | undefined }

/** The text of an answer. What cannot be drawn as it is meant is there as it was written, and takes nothing else with it. */
export const Prose = (props: ProseProps) => {
  const [failed] = useErrorBoundary()
  return failed === undefined ? (
    <Drawn {...props} />
  ) : (
    <div class="prose lines" dir="auto">
      {props.text}
    </div>
  )
}

const Drawn = ({ text, live, lines = false }: ProseProps) => {
  const place = useRef<HTMLDivElement>(null)
  const shown = useReveal(text, place)
  const before = useRef<Blocks>(noBlocks)
  const blocks = useMemo(() => blocksOf(shown, before.current), [shown])
  before.current = blocks
  const parts = [...blocks.closed, ...blocks.open]
  const writing = live || shown.length < text.length
  return (
    <div class={`prose${writing ? ' live' : ''}${lines ? ' lines' : ''}`} ref={place}>
      {parts.map((part, index) => (
        // A block stands where it stands: its number is its name.
        <Part key={index} markdown={writing && index === parts.length - 1 ? asIfClosed(part) : part} />
      ))}
    </div>
  )
}

/** The same nodes as long as it is the same text. */
const Part = ({ markdown }: { markdown: string }) => useMemo(() => <>{blocks(treeOf(markdown))}</>, [markdown])

const blocks = (nodes: readonly BlockNode[]) => nodes.map((node, index) => <Fragment key={index}>{block(node)}</Fragment>)

const block = (node: BlockNode): ComponentChildren => {
  switch (node.type) {
    case 'paragraph':
      return <p dir="auto">{inlines(node.children)}</p>
    case 'heading': {
      const Heading = `h${node.level}` as const
      return <Heading dir="auto">{inlines(node.children)}</Heading>
    }
    case 'list':
      return node.start === null ? (
        <ul dir="auto">{items(node.items)}</ul>
      ) : (
        <ol dir="auto" start={node.start}>
          {items(node.items)}
        </ol>
      )
    case 'quote':
      return <blockquote dir="auto">{blocks(node.children)}</blockquote>
    case 'code':
      return <Code text={node.text} language={node.language} closed={node.closed} />
    case 'table':
      return <Table head={node.head} rows={node.rows} />
    case 'rule':
      return <hr />
    case 'maths':
      return <Formula source={node.source} raw={node.raw} display />
  }
}

/** An item of one paragraph is no paragraph, it would stand too far from the next. */
const items = (all: readonly BlockNode[][]) =>
  all.map((nodes, index) => {
    const task = nodes[0]?.type === 'paragraph' && nodes[0].children[0]?.type === 'task'
    return (
      <li key={index} dir="auto" class={task ? 'task' : undefined}>
        {nodes.map((node, at) => (
          <Fragment key={at}>{node.type === 'paragraph' && at === 0 ? inlines(node.children) : block(node)}</Fragment>
        ))}
      </li>
    )
  })

const inlines = (nodes: readonly Inline[]) => nodes.map((node, index) => <Fragment key={index}>{inline(node)}</Fragment>)

const inline = (node: Inline): ComponentChildren => {
  switch (node.type) {
    case 'text':
      return node.text
    case 'strong':
      return <strong>{inlines(node.children)}</strong>
    case 'em':
      return <em>{inlines(node.children)}</em>
    case 'del':
      return <del>{inlines(node.children)}</del>
    case 'code':
      return <code>{node.text}</code>
    case 'link':
      return (
        <a href={node.href} target="_blank" rel="noopener noreferrer nofollow">
          {inlines(node.children)}
        </a>
      )
    case 'break':
      return <br />
    case 'task':
      return <input type="checkbox" checked={node.done} disabled aria-label={node.done ? 'Done' : 'Not done'} />
    case 'maths':
      return <Formula source={node.source} raw={node.raw} display={node.display} />
  }
}

const Table = ({ head, rows }: { head: readonly Cell[]; rows: readonly (readonly Cell[])[] }) => (
  <Wide label="Table">
    <table dir="auto">
      <thead>
        <tr>
          {head.map((cell, index) => (
            <th key={index} dir="auto" scope="col" class={cell.align ?? undefined}>
              {inlines(cell.children)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, at) => (
              <td key={at} dir="auto" class={cell.align ?? undefined}>
                {inlines(cell.children)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </Wide>
)
