/** Answers as the UI message streams of the AI SDK. */
export { type UiDoor, uiStream } from './ui-stream.ts'
