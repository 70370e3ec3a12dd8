/** What a model is told that chooses. Pure. */
import { type AnySupervisor, type CheckedIntent, END, type SupervisorContext } from './definition.ts'

/** Characters of what came out of an earlier iteration. */
const outputCharsMax = 160

const clipped = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length <= outputCharsMax ? text : `${text.slice(0, outputCharsMax)}…`.toWellFormed()
}

/** For a classifier that is a model. */
export const classificationFor = (
  { definition, intents }: { definition: AnySupervisor; intents: readonly CheckedIntent[] },
  { input, goal }: SupervisorContext<never, never>,
): string =>
  [
    ...(definition.systemPrompt === undefined ? [] : [definition.systemPrompt]),
    ...(goal === undefined ? [] : [`Goal: ${goal}`]),
    `Say which of these the input is for, and how sure you are (confidence, from 0 to 1). There are:\n${intents.map(({ name, description }) => `- ${name}: ${description ?? ''}`).join('\n')}`,
    `Input: ${typeof input === 'string' ? input : JSON.stringify(input)}`,
  ].join('\n\n')

/** As a text: the router needs no tool to read it. */
export const questionFor = (
  { definition, intents }: { definition: AnySupervisor; intents: readonly CheckedIntent[] },
  { input, state, iteration, maxIterations, iterations, feedback, goal }: SupervisorContext<never, never>,
): string => {
  const before = iterations.map(({ number, decision, branches }) => {
    const said = Object.entries(branches).map(([name, { status, output, error }]) =>
      status === 'completed' ? `${name}: ${clipped(output)}` : `${name} failed: ${clipped(error?.message)}`,
    )
    return `${number + 1}. ${decision.next.join(', ')} → ${said.join('; ')}`
  })
  return [
    ...(definition.systemPrompt === undefined ? [] : [definition.systemPrompt]),
    ...(goal === undefined ? [] : [`Goal: ${goal}`]),
    `Choose who works next. There are:\n${intents.map(({ name, description }) => `- ${name}: ${description ?? ''}`).join('\n')}\n- ${END}: nothing more is to be done`,
    `This is iteration ${iteration + 1} of at most ${maxIterations}.`,
    ...(before.length === 0 ? [] : [`Done so far:\n${before.join('\n')}`]),
    `State: ${JSON.stringify(state)}`,
    ...(feedback === undefined ? [] : [`Feedback: ${feedback}`]),
    `Input: ${typeof input === 'string' ? input : JSON.stringify(input)}`,
    ...(definition.description === undefined ? [] : [`You choose for: ${definition.description}`]),
  ].join('\n\n')
}
