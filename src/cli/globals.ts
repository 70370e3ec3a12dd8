/** Options as the command line reads them. */

/** @property data of `up`: another way to say `url` */
export type Globals = { url?: string; data?: string; app?: string; json?: boolean }

export type Options<T = object> = Globals & T

export type ChatOptions = Options<{ session: string; agent?: string; model?: string }>
