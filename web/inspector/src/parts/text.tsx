/** Text from a session: it changes nothing around it, and unseen characters show. */
import { useState } from 'preact/hooks'
import { jsonText, plainText, textMax } from '../rules/text.rules.ts'

export const Text = ({ children }: { children: string }) => <bdi>{plainText(children)}</bdi>

/** A value as text, cut where it is long, until somebody wants all of it. */
export const Value = ({ value }: { value: unknown }) => {
  const [whole, setWhole] = useState(false)
  const text = jsonText(value)
  const isLong = text.length > textMax && !whole
  return (
    <div class="value">
      <pre>
        <Text>{isLong ? text.slice(0, textMax) : text}</Text>
      </pre>
      {isLong && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </div>
  )
}
