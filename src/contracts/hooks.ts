/** What extensions may change in a turn, as its effects ask for it. */

/** @property agent its name */
export type TurnPlace = { session: string; runId: string; agent: string }

export type ToolResult = TurnPlace & { callId: string; tool: string; input: unknown; output: unknown }

export interface TurnHooks {
  /** What the model is told besides in this turn. Asked once, before its first call; never rejects. */
  beforeAgent(turn: TurnPlace): Promise<string | undefined> | undefined
  /** What is kept of the result of a tool, plain JSON. @throws RuntimeError tool_output where it must not be kept as it is */
  toolResult(result: ToolResult): unknown
}
