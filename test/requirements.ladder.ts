/** Rows of the ladder (WL) that are built; the others come with their rungs. */
export const ladder: readonly { id: string; text: string }[] = [
  { id: 'WL-001', text: 'each rung says in its report what it is' },
  { id: 'WL-002', text: 'execute gives data or error, usage and a report; stream ends alike' },
  { id: 'WL-003', text: 'what goes wrong at run time is in the result, with a code; only configuration and drift are thrown' },
  { id: 'WL-106', text: 'steps are named, ordered and unique, and do one thing each; else they are refused where they are written' },
  { id: 'WL-107', text: 'skip, before, work, output, after, nextStep; a step that is skipped still leads on' },
  { id: 'WL-108', text: 'attempts, pauses and what is worth another attempt, of the step or the workflow; each attempt begins with a clean state' },
  { id: 'WL-109', text: 'children of a parallel step all end; it fails with the first that failed; states are merged in their order' },
  { id: 'WL-110', text: 'goto, end or the next step; after a failure too; an unknown target or a hook that throws is WORKFLOW_INVALID_GOTO' },
  { id: 'WL-111', text: 'at most 100 steps, and a warning when one is entered for the fifth time' },
  { id: 'WL-112', text: 'input and records are frozen, the context of the caller is never stored, the state is its own' },
  { id: 'WL-113', text: 'a run goes on at the step that failed, or was cut off, and not before it' },
  { id: 'WL-114', text: 'a run that other steps or another version began is refused as WORKFLOW_DRIFT' },
  { id: 'WL-115', text: 'cancelled in a step: its code is told, what was done stays, the run can go on; each thing that happens is told' },
]
