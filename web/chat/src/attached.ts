/** Files that wait beside the draft of a conversation: uploaded as soon as they are attached, so that sending takes no time. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { errorOf, useModel } from './hooks.ts'
import type { FileRef } from './model.ts'
import { attachable } from './rules/attach.rules.ts'

/** `picture`: an address of this page under which an image can be shown. */
export type Chip = { id: number; name: string; size: number; picture?: string; file?: FileRef; error?: string; stop(): void }

export type AttachedFiles = {
  chips: readonly Chip[]
  /** Those that the server has. */
  files: readonly FileRef[]
  busy: boolean
  /** Why some were not taken. */
  refused: readonly string[]
  over: boolean
  add(files: readonly File[]): void
  remove(id: number): void
  /** Sends them: they are gone when the server has them, and stay where it refuses. */
  give(send: (files: readonly FileRef[]) => Promise<void>): Promise<void>
  onPaste(event: ClipboardEvent): void
  drops: Record<'onDragOver' | 'onDragLeave' | 'onDrop', (event: DragEvent) => void>
}

const none: readonly Chip[] = []
let count = 0

export const useAttached = (conversation: string): AttachedFiles => {
  const model = useModel()
  const [all, setAll] = useState<ReadonlyMap<string, readonly Chip[]>>(new Map())
  const [refused, refuse] = useState<readonly string[]>([])
  const [over, setOver] = useState(false)
  const chips = all.get(conversation) ?? none
  const now = useRef(all)
  now.current = all
  useEffect(() => refuse([]), [conversation])
  const change = useCallback(
    (how: (chips: readonly Chip[]) => readonly Chip[]) =>
      setAll((before) => new Map(before).set(conversation, how(before.get(conversation) ?? none))),
    [conversation],
  )
  const remove = (id: number) => {
    const chip = chips.find((one) => one.id === id)
    if (chip) leave(chip)
    change((before) => before.filter((one) => one.id !== id))
    refuse([])
  }
  const add = (files: readonly File[]) => {
    if (!model.upload) return
    const { taken, refused: why } = attachable(files, chips.length)
    refuse(why)
    for (const file of taken) {
      const id = ++count
      const { signal, abort } = stopper()
      const picture = file.type.startsWith('image/') && file.type !== 'image/svg+xml' ? { picture: URL.createObjectURL(file) } : {}
      change((before) => [...before, { id, name: file.name, size: file.size, stop: abort, ...picture }])
      const end = (changes: Partial<Chip>) => change((before) => before.map((one) => (one.id === id ? { ...one, ...changes } : one)))
      model.upload(file, signal).then(
        (kept) => end({ file: kept }),
        (reason: unknown) => {
          const { message, hint } = errorOf(reason)
          end({ error: hint ? `${message}: ${hint}` : message })
        },
      )
    }
  }
  const give = async (send: (files: readonly FileRef[]) => Promise<void>) => {
    const given = chips
    await send(given.flatMap(({ file }) => file ?? []))
    for (const chip of given) leave(chip)
    change((before) => before.filter((one) => !given.includes(one)))
    refuse([])
  }
  useEffect(() => () => [...now.current.values()].flat().forEach(leave), [])
  return {
    chips,
    files: chips.flatMap(({ file }) => file ?? []),
    busy: chips.some(({ file, error }) => file === undefined && error === undefined),
    refused,
    over,
    add,
    remove,
    give,
    onPaste: (event) => {
      const files = [...(event.clipboardData?.files ?? [])]
      if (files.length === 0 || !model.upload) return
      event.preventDefault()
      add(files)
    },
    drops: {
      onDragOver: (event) => {
        if (!model.upload || !event.dataTransfer?.types.includes('Files')) return
        event.preventDefault()
        setOver(true)
      },
      onDragLeave: () => setOver(false),
      onDrop: (event) => {
        setOver(false)
        const files = [...(event.dataTransfer?.files ?? [])]
        if (files.length === 0 || !model.upload) return
        event.preventDefault()
        add(files)
      },
    },
  }
}

const stopper = () => {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

const leave = ({ picture, stop }: Chip): void => {
  stop()
  if (picture) URL.revokeObjectURL(picture)
}
