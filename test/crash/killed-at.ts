/** Stories of a process that dies at one fail point, again and again, and is judged. */
import { expect } from 'vitest'
import { diedAt, type Kill, type Plan, play, type Story } from './runs.ts'

export const violationsOf = ({ violations, folder }: Pick<Story, 'violations' | 'folder'>): string[] =>
  violations.map((violation) => `${violation} (${folder})`)

/** Dies once at each of the hits from one to another, each time in a life of its own, and is judged. */
export const killedAt = async (name: string, hits: [from: number, to: number], plan: Omit<Plan, 'kills'> = {}, kill: Kill = {}): Promise<void> => {
  for (let [hit, to] = hits; hit <= to; hit++) {
    const story = await play({ ...plan, kills: [{ ...kill, at: `${name}:${hit}:kill` }] })
    expect(violationsOf(story)).toEqual([])
    expect(diedAt(story.deaths[0]!, name, hit), `${name} was not hit ${hit} times: ${JSON.stringify(story.deaths)}`).toBe(true)
    expect(story.answered).toBe(3)
  }
}

/** Dies in the middle of a tool, which leaves a call in doubt. */
export const killedInTool = async (inTool: string, inDoubt: 'approve' | 'deny'): Promise<void> => {
  const story = await play({ kills: [{ inTool }], inDoubt })
  expect(violationsOf(story)).toEqual([])
  expect(story.deaths[0]?.signal).toBe('SIGKILL')
}
