/** What a link to a moment says. Never the token: that comes in the fragment, and does not stay there. */
import { type ErrorBody, errorBody } from '../../../../src/contracts/errors.ts'
import { formatAddress } from '../../../../src/contracts/subjects.ts'

export type Place = {
  kind: string
  id: string
  seq?: number | undefined
  actor?: string | undefined
  /** The moment at which this run was answered. */
  run?: string | undefined
}

export const placeIn = (search: string): Place | undefined => {
  const given = new URLSearchParams(search)
  const session = given.get('session')
  const [kind, id] = session === null ? [given.get('kind'), given.get('id')] : ['session', session]
  if (!kind || !id) return undefined
  const seq = Number(given.get('seq'))
  const actor = given.get('actor')
  const run = given.get('run')
  return {
    kind,
    id,
    // No commit has a number beyond those that can be counted.
    ...(Number.isSafeInteger(seq) && seq > 0 ? { seq } : {}),
    ...(actor?.startsWith('/') ? { actor } : {}),
    ...(run ? { run } : {}),
  }
}

/** Why nothing can have this address: it may have been cut short, or written by hand. @returns undefined where something can */
export const troubleWith = ({ kind, id }: Pick<Place, 'kind' | 'id'>): ErrorBody | undefined => {
  try {
    formatAddress({ kind, id })
    return undefined
  } catch (error) {
    const body = errorBody(error)
    return {
      ...body,
      message: `the address of this page leads to nothing: ${body.message}`,
      hint: 'choose what you look for in the list, or ask for the link again',
    }
  }
}

export const searchOf = ({ kind, id, seq, actor, run }: Place): string => {
  const said = new URLSearchParams(kind === 'session' ? { session: id } : { kind, id })
  if (seq !== undefined) said.set('seq', String(seq))
  if (actor !== undefined && actor !== '/') said.set('actor', actor)
  if (run !== undefined) said.set('run', run)
  // As people write keys and paths; both mean the same in a query.
  return `?${said.toString().replaceAll('%3A', ':').replaceAll('%2F', '/')}`
}
