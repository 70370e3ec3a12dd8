/** The commands about extensions. */
import type { RuntimeParts } from '../runtime/index.ts'

export const listExtensions = ({ extensions }: RuntimeParts) => ({ extensions: extensions.list() })

export const reloadExtension = async ({ extensions }: RuntimeParts, { name }: { name: string }) => ({ extension: await extensions.reload(name) })
