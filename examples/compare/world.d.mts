/** Of `world.mjs`, for programs in TypeScript. */
type Order = { id: string; item: string; price: number }
type Message = { role: string; text: string }

export const folder: string
export const done: () => { what: string; key?: string; job?: string; saw?: string[] }[]
export const shop: {
  fetch(id: string): Promise<Order>
  checkStock(order: Order): Promise<string>
  checkFraud(order: Order): Promise<string>
  charge(order: Order, key?: string): Promise<string>
  ship(order: Order, key?: string): Promise<string>
}
export const answer: (job: string, messages: readonly Message[]) => Promise<string>
export const main: (verbs: Record<string, (from: string) => Promise<unknown>>) => Promise<void>
