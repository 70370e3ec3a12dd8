/** What a request asks for, whichever of the two forms it has. */
import type { AnswerFormat, ToolChoice } from '../../contracts/answer-format.ts'
import type { ClientTool } from '../../contracts/client-tools.ts'
import type { Attachment } from '../../contracts/file.ts'
import type { ThinkingLevel } from '../../contracts/settings.ts'
import type { Result } from './functions.ts'
import type { Told } from './told.ts'

export type Asked = {
  /** As it was asked for, which is how it is named in the answer. */
  model: string
  /** The newest message of the user, and what goes ahead of it; empty where results of tools are what is answered. */
  text: string
  before: Told[]
  /** Files of the newest message. */
  files: Attachment[]
  /** The field that holds both. */
  field: string
  /** Functions that the client runs, and its results of those that the newest answer called. */
  tools: ClientTool[]
  results: Result[]
  /** Which function the model must call, and the form of the answer. */
  choice?: ToolChoice
  format?: AnswerFormat
  stream: boolean
  /** Whether the session stays when it was made for this request. */
  store: boolean
  thinking?: ThinkingLevel
  /** The response that this one continues. */
  previous?: string
}

/** How hard the model is to think, by their words for it. */
export const efforts = { none: 'off', minimal: 'minimal', low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh' } as const satisfies Record<
  string,
  ThinkingLevel
>
