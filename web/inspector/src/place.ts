/** What the address of the page names: a session or another actor, a commit, and who is looked at. The token never stands in it. */
export type Place = { kind: string; id: string | undefined; seq: number | undefined; actor: string | undefined; run: string | undefined }

export const placeIn = (search: string): Place => {
  const query = new URLSearchParams(search)
  const seq = Number(query.get('seq') ?? Number.NaN)
  return {
    kind: query.get('kind') ?? 'session',
    id: query.get('session') ?? query.get('id') ?? undefined,
    seq: Number.isInteger(seq) && seq > 0 ? seq : undefined,
    actor: query.get('actor') ?? undefined,
    run: query.get('run') ?? undefined,
  }
}

export const searchOf = ({ kind, id, seq, actor }: { kind: string; id: string; seq: number | undefined; actor: string }): string => {
  const query = new URLSearchParams(kind === 'session' ? { session: id } : { kind, id })
  if (seq !== undefined) query.set('seq', `${seq}`)
  if (actor !== '/') query.set('actor', actor)
  return `?${query}`
}
