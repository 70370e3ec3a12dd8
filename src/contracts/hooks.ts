/** What extensions may change in a turn, as its effects ask for it. */

/** @property agent its name */
export type TurnPlace = { session: string; runId: string; agent: string }

export type ToolResult = TurnPlace & { callId: string; tool: string; input: unknown; output: unknown }

/** What a model has said, before anybody has seen it. */
export type OutgoingMessage = TurnPlace & { text: string; reasoning: string }

/** What became of it: who changed it, or kept it from being sent, and why. */
export type OutgoingChange = { extension: string; did: 'changed' | 'cancelled'; reason?: string }
export type Outgoing = { text: string; reasoning: string; changes: OutgoingChange[] }

export interface TurnHooks {
  /** Who says what the model is told besides in this turn, asked once, before its first call; it never rejects. Undefined where nobody does. */
  beforeAgent(): ((turn: TurnPlace) => Promise<string | undefined>) | undefined
  /** What is kept of the result of a tool, plain JSON. @throws RuntimeError tool_output where it must not be kept as it is */
  toolResult(result: ToolResult): unknown
  /**
   * Who looks at what a model says; undefined where nobody does: then it is shown while it comes.
   * @throws RuntimeError internal where one failed, so that nobody shall see it
   */
  outgoing(): ((message: OutgoingMessage) => Promise<Outgoing>) | undefined
}
