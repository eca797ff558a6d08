import { requestId as chooseId } from '#shared/http/ids.ts'

const NAME = 'x-request-id'

/** Chooses the id: the inbound x-request-id if that is valid. It sets it on the request, for routes and for what they fetch. */
export function setRequestId({ headers }: Request): string {
  const inbound = headers.get(NAME)
  const id = chooseId(inbound)
  if (id !== inbound) headers.set(NAME, id)
  return id
}

/** The id of a request, for a page or a log line. */
export function idOf({ headers }: Request): string {
  return headers.get(NAME) ?? ''
}
