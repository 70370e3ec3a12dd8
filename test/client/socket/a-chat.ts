/** What a gateway says of the session `main`, and a page that listens. */
import {
  type ChatAction,
  type ChatView,
  emptyView,
  type HistoryMessage,
  type HistoryRun,
  type ViewEntry,
  viewOf,
} from '../../../src/client/socket/index.ts'
import type {
  ChatBlock,
  ChatEvent,
  EventFrame,
  GatewayEventName,
  GatewayEvents,
  MessageEvent,
  Subscribed,
  ToolEvent,
} from '../../../src/contracts/gateway.ts'

const sessionKey = 'main'

export const event = <Name extends GatewayEventName>(name: Name, payload: GatewayEvents[Name]): ChatAction => ({
  type: 'event',
  frame: { type: 'event', event: name, payload } as unknown as EventFrame,
})

export const text = (words: string, id = 'u1:1'): ChatBlock => ({ type: 'text', id, text: words })
export const thinking = (words: string, id = 'u1:1'): ChatBlock => ({ type: 'thinking', id, thinking: words })
export const call = (nth = 1, id = 'u1:1', name = 'add'): ChatBlock => ({ type: 'tool', id, callId: `main/${id}:${nth}`, name })
export const joined = (id: string, words: string): ChatBlock => ({ type: 'joined', id, text: words })

export const chatEvent = (seq: number, content: ChatBlock[] | undefined, more: Partial<ChatEvent> = {}): ChatEvent => ({
  runId: 'u1',
  sessionKey,
  seq,
  state: 'delta',
  ...(content ? { message: { role: 'assistant', content, timestamp: 1_000 + seq } } : {}),
  ...more,
})
export const chat = (...given: Parameters<typeof chatEvent>): ChatAction => event('chat', chatEvent(...given))

export const toolEvent = (state: ToolEvent['state'], more: Partial<ToolEvent> = {}): ToolEvent => ({
  runId: 'u1',
  sessionKey,
  callId: 'main/u1:1:1',
  toolName: 'add',
  state,
  timestamp: state === 'running' ? 1_010 : 1_020,
  ...more,
})
export const tool = (...given: Parameters<typeof toolEvent>): ChatAction => event('session.tool', toolEvent(...given))

export const message = (id: string, status: MessageEvent['status'] = 'started', more: Partial<MessageEvent> = {}): ChatAction =>
  event('session.message', { sessionKey, id, runId: status === 'started' ? id : '', status, text: `text of ${id}`, timestamp: 1_000, ...more })

export const subscribed = (run: ChatEvent | null = null, tools: ToolEvent[] = []): ChatAction => ({
  type: 'subscribed',
  answer: { sessionKey, run, tools } satisfies Subscribed,
})

/** A history that is asked for now. */
export const opened = (view: ChatView, messages: HistoryMessage[], runs: HistoryRun[] = []): ChatAction => ({
  type: 'opened',
  sessionKey,
  life: view.life,
  messages,
  runs,
})

export const said = (id: string, words = `text of ${id}`, at = 900): ChatAction => ({ type: 'said', id, text: words, at })

export const fold = (actions: readonly ChatAction[], from: ChatView = emptyView(sessionKey)): ChatView => actions.reduce(viewOf, from)

/** A page that is connected and has read an empty history. */
export const aPage = (...actions: ChatAction[]): ChatView => {
  const view = fold([{ type: 'connected' }])
  return fold([opened(view, []), subscribed(), ...actions], view)
}

/** As a reader sees it, a line an entry. */
export const lines = ({ entries }: Pick<ChatView, 'entries'>): string[] => entries.map(lineOf)

const lineOf = (entry: ViewEntry): string => {
  switch (entry.type) {
    case 'user':
      return `${entry.status === 'sending' ? 'sending' : 'user'}: ${entry.text ?? entry.id}`
    case 'answer':
      return `${entry.state}: ${entry.blocks
        .map((block) => {
          if (block.type === 'tool') return `[${block.name} ${block.state}${block.output === undefined ? '' : ` ${JSON.stringify(block.output)}`}]`
          if (block.type === 'thinking') return `(${block.thinking})`
          return block.type === 'joined' ? `<${block.text}>` : block.text
        })
        .join(' ')}`.trimEnd()
    default:
      return `${entry.type}: ${entry.text}`
  }
}

/** What is drawn, without what it was made of. */
export const drawn = ({ entries, waiting, approvals, run, busy, stale }: ChatView) => ({ entries, waiting, approvals, run, busy, stale })
