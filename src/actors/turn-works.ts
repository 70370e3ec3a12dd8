/** The works of a turn without its statecharts, so that the types of a runtime do not spell those out. */
import type { ModelCallInput, ModelCallOutput, SummaryInput, SummaryOutput, ToolCallInput, ToolCallOutput } from '../contracts/turn.ts'
import type { Work } from './effect.ts'

/** What a turn has done, by the names of its effects. Each may be done by any node, and says so that it can be repeated. */
export type TurnWorks = {
  callModel: Work<ModelCallOutput, ModelCallInput>
  summarise: Work<SummaryOutput, SummaryInput>
  execute: Work<ToolCallOutput, ToolCallInput>
}
