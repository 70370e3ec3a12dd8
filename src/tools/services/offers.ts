/** Which instance of which service offers which tool. Of several services that offer one name the first counts, until it is gone. */
import type { Logger } from '../../contracts/environment.ts'
import type { Tool } from '../../contracts/tool.ts'
import type { Introduction, Offer } from './info.ts'

/** @property seen the number of the look in which it introduced itself last */
export type Instance = { id: string; seen: number; missed: number; answersPings: boolean }
type Entry = { offer: Offer; tool: Tool; instances: Map<string, Instance> }
/** One instance in one entry. */
type Listed = { entry: Entry; instance: Instance }

const toolsMax = 500
const instancesMax = 1000
const complaintsMax = 1000

/** @param toolOf makes the tool of an offer; `instances` tells at any time who offers it */
export const offerTable = (log: Logger, toolOf: (offer: Offer, instances: () => Instance[]) => Tool) => {
  const entries = new Map<string, Entry[]>()
  const complaints = new Set<string>()

  /** Once each, however often it is noticed. */
  const complain = (fields: object, message: string): void => {
    const key = JSON.stringify([fields, message])
    if (complaints.has(key)) return
    if (complaints.size >= complaintsMax) complaints.clear()
    complaints.add(key)
    log.warn(fields, message)
  }

  const all = (): Listed[] =>
    [...entries.values()].flatMap((rivals) => rivals.flatMap((entry) => [...entry.instances.values()].map((instance) => ({ entry, instance }))))

  const remove = ({ entry, instance }: Listed): void => {
    if (!entry.instances.delete(instance.id) || entry.instances.size > 0) return
    const { name } = entry.offer.settings
    const left = (entries.get(name) ?? []).filter((rival) => rival !== entry)
    if (left.length > 0) entries.set(name, left)
    else entries.delete(name)
    log.info({ tool: name, service: entry.offer.service }, 'the last instance that offered a tool is gone')
  }

  const entryOf = (offer: Offer): Entry | undefined => {
    const { service, subject, fingerprint, settings } = offer
    const { name } = settings
    const rivals = entries.get(name) ?? []
    const known = rivals.find((rival) => rival.offer.fingerprint === fingerprint)
    if (known !== undefined) return known
    if (rivals[0] !== undefined)
      complain({ tool: name, service, subject, stays: rivals[0].offer.service }, 'two services offer a tool of this name: the first one stays')
    else if (entries.size >= toolsMax) {
      complain({ tool: name, service }, `${toolsMax} tools of services are known already`)
      return undefined
    } else log.info({ tool: name, service, subject }, 'a service offers a tool')
    const instances = new Map<string, Instance>()
    const made = { offer, instances, tool: toolOf(offer, () => [...instances.values()]) }
    entries.set(name, [...rivals, made])
    return made
  }

  return {
    complain,
    remove,
    /** Takes down what an instance says of itself, in place of what it said before. @returns those that are new */
    hear({ service, instance: id, offers, refused }: Introduction, look: number): Listed[] {
      for (const { endpoint, why } of refused) complain({ service, endpoint, why }, 'an endpoint cannot be used as a tool')
      const offered = new Set(offers.map(({ fingerprint }) => fingerprint))
      for (const listed of all())
        if (listed.entry.offer.service === service && listed.instance.id === id && !offered.has(listed.entry.offer.fingerprint)) remove(listed)
      return offers.flatMap((offer) => {
        const entry = entryOf(offer)
        const known = entry?.instances.get(id)
        if (known !== undefined) Object.assign(known, { seen: look, missed: 0 })
        if (entry === undefined || known !== undefined || entry.instances.size >= instancesMax) return []
        const instance = { id, seen: look, missed: 0, answersPings: false }
        entry.instances.set(id, instance)
        return [{ entry, instance }]
      })
    },
    unseen: (look: number): Listed[] => all().filter(({ instance }) => instance.seen < look),
    /** In the order of names, so that a model reads the same list each time. */
    tools: (): [string, Tool][] =>
      [...entries].flatMap(([name, [first]]): [string, Tool][] => (first ? [[name, first.tool]] : [])).sort(([a], [b]) => (a < b ? -1 : 1)),
  }
}
