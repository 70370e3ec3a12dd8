/** Where the cgroups of this process are, read from what the kernel says of it. */

export type Hierarchy = { version: 1 | 2; controllers: readonly string[]; folder: string }

/** Octal escapes of spaces and the like in `/proc/self/mountinfo`. */
const unescaped = (path: string): string => path.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))

/**
 * The folder of this process in each hierarchy.
 * @param membership text of `/proc/self/cgroup` @param mountinfo text of `/proc/self/mountinfo`
 */
export const hierarchiesOf = (membership: string, mountinfo: string): Hierarchy[] => {
  const mounts = mountinfo.split('\n').flatMap((line) => {
    const [left = '', right = ''] = line.split(' - ')
    const [, , , root = '', point = ''] = left.split(' ')
    const [type, , options = ''] = right.split(' ')
    return type === 'cgroup' || type === 'cgroup2' ? [{ type, root: unescaped(root), point: unescaped(point), options: options.split(',') }] : []
  })
  return membership.split('\n').flatMap((line): Hierarchy[] => {
    const [, id, names, path] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? []
    if (id === undefined || names === undefined || path === undefined) return []
    const version = id === '0' && names === '' ? 2 : 1
    const controllers = names.split(',').filter((name) => name !== '')
    const mount = mounts.find(({ type, options }) =>
      version === 2 ? type === 'cgroup2' : type === 'cgroup' && controllers.every((name) => options.includes(name)),
    )
    if (mount === undefined) return []
    // A container may have a part of the hierarchy mounted, and its path from the top of it.
    const isBelow = mount.root !== '/' && (path === mount.root || path.startsWith(`${mount.root}/`))
    const below = isBelow ? path.slice(mount.root.length) : path
    return [{ version, controllers, folder: `${mount.point}${below === '/' ? '' : below}` }]
  })
}
