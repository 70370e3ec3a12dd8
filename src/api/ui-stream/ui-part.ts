/**
 * What `useChat` of the AI SDK reads, one part a line of the stream: those that its versions 6 and 7 know, with no field that they do not. Version 6 ends a stream
 * at the first part that it does not know, and has no `tool-approval-response`.
 */

/** @property state what goes on beside the answer */
export type UiState = {
  state: 'running' | 'waiting' | 'retrying' | 'fallback' | 'compacting' | 'compacted' | 'stuck' | 'progress' | 'notice'
  [fact: string]: unknown
}

export type UiPart =
  | { type: 'start'; messageId: string; messageMetadata: Record<string, unknown> }
  | { type: 'start-step' }
  | { type: 'finish-step' }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown }
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string }
  | { type: 'tool-output-denied'; toolCallId: string }
  | { type: 'data-state'; data: UiState; transient: true }
  /** Said beside the conversation. */
  | { type: 'data-side-result'; data: { runId: string; question?: string; text: string; isError: boolean }; transient: true }
  | { type: 'message-metadata'; messageMetadata: Record<string, unknown> }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason: string }
  | { type: 'finish'; finishReason: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other' }
