/** Small things that several parts of the page need. */
import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import type { ChatModel, ChatView, ErrorBody } from './model.ts'

const ModelContext = createContext<ChatModel | undefined>(undefined)
export const ModelProvider = ModelContext.Provider

export const useModel = (): ChatModel => {
  const model = useContext(ModelContext)
  if (!model) throw new TypeError('a part of the page stands outside mount()')
  return model
}

export const useView = (model: ChatModel): ChatView => {
  const [view, set] = useState(() => model.view())
  useEffect(() => {
    const look = () => set(model.view())
    look()
    return model.subscribe(look)
  }, [model])
  return view
}

/**
 * Where the element that has the focus leaves the page, such as a button that was pressed, another one gets it: what is typed next must not get lost.
 * Not on touch screens, where the focus opens the keyboard.
 */
export const useFocusAfterRemoval = (focus: () => void): void => {
  useEffect(() => {
    if (!matchMedia('(pointer: fine)').matches) return
    let focused: Element | undefined
    const onFocus = (event: FocusEvent) => {
      focused = event.target instanceof Element ? event.target : undefined
    }
    const onBlur = ({ target }: FocusEvent) =>
      queueMicrotask(() => {
        if (target === focused && focused?.isConnected) focused = undefined
      })
    const observer = new MutationObserver(() => {
      if (focused === undefined || focused.isConnected || (document.activeElement !== document.body && document.activeElement !== null)) return
      focused = undefined
      focus()
    })
    document.addEventListener('focusin', onFocus)
    document.addEventListener('focusout', onBlur)
    observer.observe(document.body, { childList: true, subtree: true })
    return () => {
      observer.disconnect()
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('focusout', onBlur)
    }
  }, [focus])
}

/** The time, as often as it is looked at; it stands still where nothing depends on it. */
export const useNow = (everyMs: number, ticking = true): number => {
  const [now, set] = useState(() => Date.now())
  useEffect(() => {
    if (!ticking) return
    set(Date.now())
    const timer = setInterval(() => set(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs, ticking])
  return now
}

/** True once it has been so for this long. */
export const useLasting = (so: boolean, forMs: number): boolean => {
  const [lasted, set] = useState(false)
  useEffect(() => {
    if (!so) return set(false)
    const timer = setTimeout(() => set(true), forMs)
    return () => clearTimeout(timer)
  }, [so, forMs])
  return so && lasted
}

/** Phones and narrow windows, where the list is a drawer. */
export const useNarrow = (): boolean => {
  const [narrow, set] = useState(() => matchMedia('(max-width: 720px)').matches)
  useEffect(() => {
    const query = matchMedia('(max-width: 720px)')
    const look = () => set(query.matches)
    query.addEventListener('change', look)
    return () => query.removeEventListener('change', look)
  }, [])
  return narrow
}

let composedAt = 0
addEventListener('compositionend', ({ timeStamp }) => {
  composedAt = timeStamp
})

/** Whether a key belongs to an input method that is composing, or to the tick after it has ended, in which some browsers send its Enter again. */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229 || event.timeStamp - composedAt < 20

/** What an action was refused with, in the form in which it is shown. */
export const errorOf = (reason: unknown): Pick<ErrorBody, 'message'> & Partial<ErrorBody> => {
  if (typeof reason === 'object' && reason !== null && 'message' in reason) return reason as ErrorBody
  return { message: String(reason) }
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
/** The key that goes with a letter. */
export const control = isMac ? 'Cmd' : 'Ctrl'
export const alt = isMac ? 'Option' : 'Alt'
