/** What the types of XState do not say of a machine: whether a logic is one, and which states it has. */
import type { AnyStateMachine, AnyStateNode } from 'xstate'

/** Also one of another copy of XState, which `instanceof` would not know. */
export const isMachine = (logic: unknown): logic is AnyStateMachine =>
  typeof logic === 'object' && logic !== null && 'root' in logic && 'provide' in logic && typeof logic.provide === 'function'

/** A state and all states within it, in the order in which they are written. */
export function* nodesIn(node: AnyStateNode): Generator<AnyStateNode> {
  yield node
  for (const child of Object.values(node.states)) yield* nodesIn(child)
}
