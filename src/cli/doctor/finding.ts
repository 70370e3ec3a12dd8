/** What the doctor finds, one thing at a time. */
export type Finding = {
  check: string
  status: 'ok' | 'warn' | 'bad'
  message: string
  hint?: string
  /** Rows that go with it, of the same keys each. */
  rows?: readonly Readonly<Record<string, string | number | null>>[]
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message })
export const warn = (check: string, message: string, hint: string): Finding => ({ check, status: 'warn', message, hint })
export const bad = (check: string, message: string, hint: string): Finding => ({ check, status: 'bad', message, hint })
