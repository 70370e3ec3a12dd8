/** A model of the AI SDK by its shape alone, so that our types need no version of its packages. */
export type LanguageModel = {
  readonly specificationVersion: 'v2' | 'v3' | 'v4'
  readonly provider: string
  readonly modelId: string
  /** By kind of file the addresses that it fetches itself: what it fetches it can read. */
  readonly supportedUrls?: unknown
  // biome-ignore lint/suspicious/noExplicitAny: each specification has options of its own, and one model must fit them all
  doStream(options: any): PromiseLike<{ stream: ReadableStream<any> }>
}
