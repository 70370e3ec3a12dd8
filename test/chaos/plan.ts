/** What will be done to nodes and servers, as data: drawn from a seed, printed, repeated. */

export type Fault =
  | { what: 'kill'; downMs: number }
  | { what: 'freeze'; forMs: number }
  /** A rolling restart by signal, or by the command of an operator. */
  | { what: 'term' }
  | { what: 'drain' }
  /** Its links are cut, or slow. */
  | { what: 'cut'; forMs: number }
  | { what: 'delay'; forMs: number; delayMs: number }
  /** An append is done and its acknowledgement is lost: alone, or with the link. */
  | { what: 'lose'; keep: boolean }
  /** The server that leads the journal dies and comes back on its store. */
  | { what: 'server'; downMs: number }

/** `afterMs` the one before is over. */
export type Act = Fault & { afterMs: number }
/** Each lane is harmed on its own, at the same time as the others. */
export type Plan = {
  seed: number
  lanes: Act[][]
  serverLane: Act[]
  /** One after the other, each when all nodes share the work. */
  rounds?: { node: number; act: Act }[]
}

export type PlanOptions = {
  seed: number
  random: () => number
  nodes: number
  kills: number
  lostAcks: number
  freezes: number
  longestFreezeMs: number
  /** Cuts, delays and restarts in good order, of each. */
  others: number
  serverRestarts: number
  /** ms between two acts of one lane, at most. */
  pauseMs: number
}

export const aPlan = ({ seed, random, nodes, pauseMs, ...counts }: PlanOptions): Plan => {
  const between = (from: number, to: number): number => Math.round(from + random() * (to - from))
  const many = (count: number, fault: () => Fault): Fault[] => Array.from({ length: count }, fault)
  const faults = [
    ...many(counts.kills, () => ({ what: 'kill', downMs: between(0, 5_000) })),
    // Half of them shorter than a node may be away, half of them longer.
    ...many(counts.freezes, () => ({ what: 'freeze', forMs: random() < 0.4 ? between(500, 2_900) : between(3_100, counts.longestFreezeMs) })),
    ...many(counts.lostAcks, () => ({ what: 'lose', keep: random() < 0.5 })),
    ...many(counts.others, () => ({ what: 'cut', forMs: between(100, 6_000) })),
    ...many(counts.others, () => ({ what: 'delay', forMs: between(500, 3_000), delayMs: between(20, 800) })),
    ...many(counts.others, () => (random() < 0.5 ? { what: 'term' } : { what: 'drain' })),
  ] as Fault[]
  const lanes: Act[][] = Array.from({ length: nodes }, () => [])
  for (const [index, fault] of shuffled(faults, random).entries()) lanes[index % nodes]?.push({ ...fault, afterMs: between(200, pauseMs) })
  const serverLane = many(counts.serverRestarts, () => ({ what: 'server', downMs: between(0, 3_000) })).map((fault) => ({
    ...fault,
    afterMs: between(pauseMs, 3 * pauseMs),
  }))
  return { seed, lanes, serverLane }
}

const shuffled = <T>(list: readonly T[], random: () => number): T[] => {
  const left = [...list]
  return list.map(() => left.splice(Math.floor(random() * left.length), 1)[0] as T)
}

/** Each node so many times, one after the other, by the command and by the signal in turns. */
export const rolling = (nodes: number, times = 1, pauseMs = 3_000): Plan => ({
  seed: 1,
  lanes: Array.from({ length: nodes }, () => []),
  serverLane: [],
  rounds: Array.from({ length: nodes * times }, (_, index) => ({
    node: index % nodes,
    act: { what: index % 2 === 0 ? 'drain' : 'term', afterMs: pauseMs },
  })),
})
