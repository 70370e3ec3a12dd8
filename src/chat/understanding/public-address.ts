/** Which addresses of the internet belong to everybody: whoever may be told to fetch a link must not be led into our own network by it. */
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** What the registries of IANA for special purposes name, with all that is not given to anybody for general use. */
const special = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8], // this network, and the unspecified address
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // behind the NAT of a carrier; metadata of Alibaba stands in it
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // the platform of Azure, which is reached from inside alone
  ['169.254.0.0', 16], // link-local; metadata of most clouds stands in it
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocols; metadata of Oracle stands in it
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // relays of 6to4
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
] as const)
  special.addSubnet(network, prefix, 'ipv4')

/** Of IPv6 only this is in general use; what of it has a purpose of its own is taken out. */
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')
const reserved = new BlockList()
for (const [network, prefix] of [
  ['2001::', 23], // protocols, Teredo among them: an IPv4 address stands in it
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: an IPv4 address stands in it
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
] as const)
  reserved.addSubnet(network, prefix, 'ipv6')

/**
 * Whether an address, as text without brackets, is one of the public internet. One of IPv6 in which one of IPv4 stands (mapped, compatible, NAT64, 6to4,
 * Teredo) is none, whatever it stands for: nobody needs a link to one, and where it leads depends on the network that we are in.
 */
export const isPublicAddress = (address: string): boolean => {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  // With a zone it is of one link.
  if (!isIPv6(address) || address.includes('%')) return false
  return global.check(address, 'ipv6') && !reserved.check(address, 'ipv6')
}
