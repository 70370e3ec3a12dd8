/** Messages that begin a conversation anew. */
import { resetWords } from '../../contracts/command-words.ts'

export const defaultResetCommands: readonly string[] = resetWords.map((word) => `/${word}`)

/** The command, as the list writes it, that a message begins with, and what follows; undefined when it begins with none. */
export const resetCommand = (text: string, commands = defaultResetCommands): { command: string; rest: string } | undefined => {
  const message = text.trim()
  const command = commands.find((word) => {
    const next = message.charAt(word.length)
    return word !== '' && message.slice(0, word.length).toLowerCase() === word.toLowerCase() && (next === '' || /\s/.test(next))
  })
  return command === undefined ? undefined : { command, rest: message.slice(command.length).trim() }
}
