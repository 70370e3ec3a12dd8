/** Copies a text. Without a secure context a page may not, and says which keys do. */
import { useEffect, useState } from 'preact/hooks'
import { control } from '../hooks.ts'
import { Icon } from './icons.tsx'

export const Copy = ({ text, label = 'Copy' }: { text: string; label?: string }) => {
  const [said, say] = useState<string>()
  useEffect(() => {
    if (said === undefined) return
    const timer = setTimeout(() => say(undefined), 2500)
    return () => clearTimeout(timer)
  }, [said])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      say('Copied')
    } catch {
      say(`Mark it and press ${control} C`)
    }
  }
  return (
    <button type="button" class="link" onClick={() => void copy()}>
      <Icon name={said === 'Copied' ? 'check' : 'copy'} />
      <span aria-live="polite">{said ?? label}</span>
    </button>
  )
}
