/** How transitions are told apart, and what their guards have said, in a sign. */
import type { Candidate, TransitionRef } from '../../../../src/contracts/inspection.ts'

export const refName = ({ source, eventType, index }: TransitionRef): string => JSON.stringify([source, eventType, index])

const signs: Readonly<Record<Candidate['verdict'], string>> = { yes: '✓', free: '✓', no: '✗', threw: '!', unasked: '·' }
export const verdictSign = ({ verdict }: Candidate): string => signs[verdict]
