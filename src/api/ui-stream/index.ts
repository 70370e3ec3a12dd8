/** Answers as the UI message streams of the AI SDK. */
export { uiStream } from './ui-stream.ts'
