/** All questions, in the order in which they are asked and stand on the page. Each has a file of its name. */
export const questions: Record<string, string> = {
  turns: 'What does a turn cost, beside its floors and beside other agent runtimes?',
  'nats-turns': 'What does a turn on NATS JetStream cost, beside its floor?',
  'nats-deltas': 'How many deltas per second reach a subscriber over NATS, and how late?',
  'nats-nodes': 'How many turns do one, two and three nodes answer on one machine?',
  'nats-sessions': 'What does a session leave on a NATS server?',
  takeover: 'How long is a turn without a node, when its node is killed?',
  'durable-turn': 'What does a durable turn cost beside the bare appends that it needs?',
  'root-event': 'What does a root add to an event of plain XState, without I/O?',
  'ladder-steps': 'What do a step, ten branches at once and a turn of the ladder cost, beside other agent runtimes?',
  deltas: 'How many deltas per second reach somebody who listens in the same process?',
  'first-delta': 'How much later does the first word come, with a real provider package in between?',
  gateway: 'How long is it from a message on the WebSocket of a gateway to the first word there?',
  inspect: 'What does it cost that actors can be looked at, and how late is what is seen?',
  commits: 'How many commits does a turn need?',
  memory: 'How much memory does a session take, awake and asleep, and how fast does it wake?',
  'ladder-sleeping': 'What does a workflow cost while it sleeps: in memory, on disk, and to wake?',
  recovery: 'How long does a recorded input take to be applied again?',
  'long-session': 'How long does a session of 10,000 turns take to come back from disk?',
  bytes: 'How many bytes does a turn leave on disk, beside what was said in it?',
  soak: 'Does memory grow while it works for a long time?',
}

/** Not part of `npm run bench`: `node bench/soak.ts --minutes 30 --keep`. */
export const apart = new Set(['soak'])
