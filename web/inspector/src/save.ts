/** Gives a text to whoever looks as a file. */
export const save = (name: string, text: string): void => {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/** Of any key a name that every file system takes. */
export const fileName = (id: string, seq: number): string => `${id.replace(/[^\w.-]+/g, '-').slice(0, 80)}-${seq}.redacted.trace`
