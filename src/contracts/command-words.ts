/** Words of ours that begin a command of a person behind a slash: no skill is called so, and a trace for others keeps them. */

/** Begin a conversation anew. */
export const resetWords = ['new', 'reset'] as const
/** At the very start of a message; but for `stop`, the rest is their argument. */
export const leadingWords = ['compact', 'usage', 'send', 'context', 'stop', 'btw', 'approve'] as const
/** Ask for something to be shown, anywhere in a message. */
export const shortcutWords = ['status', 'help', 'commands', 'whoami', 'skills', 'models'] as const
/** Settings, anywhere in a message. */
export const settingWords = ['think', 'thinking', 't', 'verbose', 'v', 'reasoning', 'reason', 'elevated', 'elev', 'exec', 'model', 'queue'] as const

export const commandWords: ReadonlySet<string> = new Set([...resetWords, ...leadingWords, ...shortcutWords, ...settingWords])
