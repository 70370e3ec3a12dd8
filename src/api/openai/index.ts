/** The agents of a node for clients of OpenAI's API. */
export { isOpenAi, openAiError } from './error.ts'
export { openAiRoutes } from './routes.ts'
