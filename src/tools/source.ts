/** Tools that come and go: what an agent has beside those that are written in its app. */
import type { Tool } from '../contracts/tool.ts'

/** The part of a source that one agent may use. Nothing here throws or rejects: a source that is out of order has no tools. */
export type ToolSource = {
  /** What there is right now by name, in the order of names, so that a model reads the same list each time. */
  offered(): ReadonlyMap<string, Tool>
  /** Whether a tool of this name could come from here, if it is not there now. */
  allows(name: string): boolean
  /** Resolves when the first look is over, which it may begin. */
  ready(): Promise<void>
  /** Looks anew; resolves when what is there is known. */
  look(): Promise<void>
  /** What a person does about a tool that could come from here and does not. */
  readonly remedy: string
}
