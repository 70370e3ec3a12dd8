/** What the agent says in answer to one message, piece by piece as it is said or all of it afterwards. The outcome is the truth. */
import { isRuntimeError } from '../../contracts/errors.ts'
import type { AssistantMessage } from '../../contracts/message.ts'
import type { TurnOutput } from '../../contracts/turn.ts'
import { answerText, type Run, type Session } from '../../runtime/index.ts'

export type Piece = { kind: 'text' | 'reasoning'; text: string }
type Step = { text: string; reasoning: string }

/** In the order in which a model makes them. */
const kinds = ['reasoning', 'text'] as const

/** @returns the outcome, when all of it has been said @throws RuntimeError where the turn failed or was cancelled */
export async function* livePieces(session: Session, run: Run): AsyncGenerator<Piece, TurnOutput> {
  const heard = { text: answerText(), reasoning: answerText() }
  try {
    for await (const event of run.events()) {
      if (event.type !== 'delta') continue
      for (const kind of kinds) {
        // Both are counted together, so that each hears of all.
        const text = heard[kind].delta({ ...event, kind: event.kind === kind ? 'text' : 'other' })
        if (text !== '') yield { kind, text }
      }
    }
  } catch (error) {
    // Too slow a reader gets the rest with the outcome.
    if (!isRuntimeError(error) || error.code !== 'overloaded') throw error
  }
  const output = await run.result()
  const steps = await stepsOf(session, run, output)
  for (const kind of kinds) {
    const text = heard[kind].rest(steps.map((step) => step[kind]))
    if (text !== '') yield { kind, text }
  }
  return output
}

/** The same for those who want no pieces on the way. @param isForm the answer is JSON: texts of earlier steps are left out */
export async function* allPieces(session: Session, run: Run, isForm = false): AsyncGenerator<Piece, TurnOutput> {
  const output = await run.result()
  const said = { text: false, reasoning: false }
  const steps = await stepsOf(session, run, output)
  for (const step of steps)
    for (const kind of kinds) {
      if (step[kind].trim() === '' || (isForm && kind === 'text' && step !== steps.at(-1))) continue
      yield { kind, text: said[kind] ? `\n\n${step[kind]}` : step[kind] }
      said[kind] = true
    }
  return output
}

/** What all calls of the model said, as the history has it; where it does not reach back so far any more, what the last one said. */
const stepsOf = async (session: Session, run: Run, output: TurnOutput): Promise<Step[]> => {
  const history = await session.history().catch(() => [])
  const said = history.findLastIndex((message) => message.role === 'user' && message.id === run.id)
  // Results of tools are answered without a message of the user.
  const first = said === -1 ? history.findIndex((message) => message.role === 'assistant' && message.id.startsWith(`${output.runId}:`)) : said
  const last = history.findLastIndex((message) => message.role === 'assistant' && message.id === output.answerId)
  if (first === -1 || last === -1) return [{ text: output.text, reasoning: '' }]
  return history
    .slice(first, last + 1)
    .filter((message): message is AssistantMessage => message.role === 'assistant')
    .map(({ text, reasoning = '' }) => ({ text, reasoning }))
}
