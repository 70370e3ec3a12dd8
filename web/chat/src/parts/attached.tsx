/** Files that go with the next message: what they are, how far they are, and how to be rid of them. */
import { useRef } from 'preact/hooks'
import { filesMax } from '../../../../src/contracts/file-limits.ts'
import type { AttachedFiles } from '../attached.ts'
import { sizeOf } from '../rules/attach.rules.ts'
import { Icon } from './icons.tsx'

const limits = `Attach images, PDFs or texts: ${filesMax} at most, 5 MB each`

export const Attach = ({ onChosen }: { onChosen(files: readonly File[]): void }) => {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" class="pick attach" aria-label="Attach files" title={limits} onClick={() => input.current?.click()}>
        <Icon name="clip" />
      </button>
      <input
        ref={input}
        type="file"
        class="unseen"
        aria-label="Files to attach"
        tabIndex={-1}
        multiple
        onChange={(event) => {
          onChosen([...(event.currentTarget.files ?? [])])
          // The same file can be chosen again.
          event.currentTarget.value = ''
        }}
      />
    </>
  )
}

export const Attached = ({ attached }: { attached: AttachedFiles }) => {
  const { chips, refused, over } = attached
  return (
    <>
      {over && <p class="drop-here">Drop to attach. {limits.slice(limits.indexOf(':') + 2)}.</p>}
      {chips.length > 0 && (
        <ul class="attached" aria-label="Attached files">
          {chips.map(({ id, name, size, picture, file, error }) => (
            <li key={id} class={error ? 'failed' : ''}>
              {picture ? <img src={picture} alt="" /> : <Icon name="file" />}
              <span class="what">
                <span class="name">{file?.fileName ?? name}</span>
                <span class="fine">{error ?? (file ? sizeOf(size) : 'Uploading…')}</span>
              </span>
              <button type="button" class="button quiet" aria-label={`Remove ${name}`} title="Remove" onClick={() => attached.remove(id)}>
                <Icon name="cross" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <p role="status" class={refused.length === 0 ? 'unseen' : 'not-attached'}>
        {refused.length > 0 && `Not attached: ${refused.join('; ')}.`}
      </p>
    </>
  )
}
