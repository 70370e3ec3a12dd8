/** What a client gives back with a decision: all that names a call that waits, its arguments and the attempt. To clients it is a word without meaning. */

import { z } from 'zod'
import type { Approval } from '../../contracts/turn.ts'

export type Question = Pick<Approval, 'runId' | 'callId' | 'attempt' | 'inputHash'>

const Fields = z.tuple([z.string().min(1), z.string().min(1), z.number().int().min(1), z.string()])

export const formatApproval = ({ runId, callId, attempt, inputHash }: Question): string => JSON.stringify([runId, callId, attempt, inputHash])

/** @returns undefined for what was not made here */
export const parseApproval = (text: string): Question | undefined => {
  try {
    const { data } = Fields.safeParse(JSON.parse(text))
    return data && { runId: data[0], callId: data[1], attempt: data[2], inputHash: data[3] }
  } catch {
    return undefined
  }
}
