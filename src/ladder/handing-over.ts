/** What is done once with each run when its callers have all of it; what begins under its name begins after that. */
export class HandingOver {
  readonly #under = new Map<string, Promise<void>>()

  /** Once for all who have waited for it: a second time it might be another run of that name. */
  of(runId: string, work: () => Promise<void>): Promise<void> {
    const under = this.#under.get(runId)
    if (under) return under
    const handing = work().finally(() => this.#under.delete(runId))
    this.#under.set(runId, handing)
    return handing
  }

  async over(runId: string): Promise<void> {
    while (this.#under.has(runId)) await this.#under.get(runId)
  }
}
