/** Files of a message that was sent: pictures to look at, all else to save. They are fetched with the token of who looks. */
import { useEffect, useState } from 'preact/hooks'
import { errorOf, useModel } from '../hooks.ts'
import type { FileRef } from '../model.ts'
import { sizeOf } from '../rules/attach.rules.ts'
import { Icon } from './icons.tsx'

/** @property kept the conversation has them: before that there is nothing to fetch */
type FilesProps = { files: readonly FileRef[]; conversation: string; kept?: boolean }

export const Files = ({ files, conversation, kept = true }: FilesProps) => (
  <ul class="files" aria-label="Files">
    {files.map((file, index) => (
      <li key={`${index} ${file.id}`}>
        {kept && file.mimeType.startsWith('image/') ? (
          <Picture file={file} conversation={conversation} />
        ) : (
          <Saved file={file} conversation={conversation} />
        )}
      </li>
    ))}
  </ul>
)

type FileProps = { file: FileRef; conversation: string }

const Picture = ({ file, conversation }: FileProps) => {
  const model = useModel()
  const [address, show] = useState<string>()
  const [failed, fail] = useState(false)
  const { id } = file
  useEffect(() => {
    let made: string | undefined
    let gone = false
    model.download?.(conversation, file).then(
      (blob) => {
        if (gone) return
        made = URL.createObjectURL(blob)
        show(made)
      },
      () => fail(true),
    )
    return () => {
      gone = true
      if (made) URL.revokeObjectURL(made)
    }
  }, [model, conversation, id])
  if (failed || !model.download) return <Saved file={file} conversation={conversation} />
  if (address === undefined) return <span class="picture bone" aria-hidden="true" />
  return (
    <a href={address} download={file.fileName} title={`Save ${file.fileName}, ${sizeOf(file.bytes)}`}>
      <img class="picture" src={address} alt={file.fileName} />
    </a>
  )
}

const Saved = ({ file, conversation }: FileProps) => {
  const model = useModel()
  const [refused, refuse] = useState<string>()
  const save = async () => {
    refuse(undefined)
    try {
      const blob = await model.download?.(conversation, file)
      if (blob) saveAs(blob, file.fileName)
    } catch (reason) {
      refuse(errorOf(reason).message)
    }
  }
  return (
    <button type="button" class="file" title={`Save ${file.fileName}`} onClick={() => void save()}>
      <Icon name="file" />
      <span class="name">{file.fileName}</span>
      <span class="fine">{refused ?? sizeOf(file.bytes)}</span>
    </button>
  )
}

const saveAs = (blob: Blob, name: string): void => {
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser has taken it over by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
