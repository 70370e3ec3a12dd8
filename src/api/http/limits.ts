/** How much of a node strangers and friends may take up: all bounds of the gateway, in one place. */
export const gatewayLimits = {
  /** Wrong or missing tokens that an address may send at once; after that it gets 429 for them. */
  wrongTokensMax: 20,
  /** ms after which an address may send another wrong one. */
  wrongTokenMs: 3_000,
  /** Addresses that are remembered; the one that was heard of longest ago is forgotten first. */
  addressesMax: 10_000,
  streamsPerTokenMax: 512,
  streamsPerAddressMax: 256,
  connectionsMax: 2_048,
  /** Requests of one connection, and of all, that have not been answered, or whose answers have not been read. */
  requestsPerConnectionMax: 32,
  requestsMax: 4_096,
  /** Connections of one address on which nobody has shown the right token. */
  strangersPerAddressMax: 128,
  /** ms for the headers of a request, from the opening of its connection. */
  headersMs: 10_000,
  /** ms for a whole request, its body included; the answer may take as long as it likes. */
  requestMs: 60_000,
}
export type GatewayLimits = typeof gatewayLimits

/** Those who share a router share a fate: of IPv6, everybody gets a whole /64. */
export const clientOf = (address: string | undefined): string => {
  if (address === undefined) return 'unknown'
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail] = plain.split('%')[0]?.split('::') ?? []
  const groups = head.split(':').filter((group) => group !== '')
  const behind = tail?.split(':').filter((group) => group !== '') ?? []
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - behind.length) }, () => '0')
  return `${[...groups, ...(tail === undefined ? [] : zeros), ...behind].slice(0, 4).join(':')}::/64`
}
