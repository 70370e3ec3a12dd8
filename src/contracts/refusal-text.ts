/** All that a provider wrote about a refusal: its message and, in the forms that are not read as one, its body. */
import type { ErrorBody } from './errors.ts'

export const refusalText = ({ message, data }: { message: string; data?: ErrorBody['data'] | undefined }): string =>
  typeof data?.body === 'string' ? `${message}\n${data.body}` : message
