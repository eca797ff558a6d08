/** The data from which the browser builds the same tree as the server. */
export interface State {
  /** How many products the page shows, 0 to 1000. */
  items: number
  /** Printed in the page. */
  requestId: string
}

export interface PageProps extends State {
  /** The nonce in the content security policy of the same response. */
  nonce: string
}

export interface DocumentProps extends PageProps {
  /** Milliseconds until the slow part is ready. With 0, or without it, that part belongs to the shell. */
  delayMs?: number | undefined
  /** If aborted, the timer of the slow part is cleared and the part fails. The caller has to abort the rendering itself. */
  signal?: AbortSignal | undefined
}

/** The `id` of the data block that carries the state. */
export const STATE_ID = 'state'

/** JSON for a script element. It has no `<`, so neither `</script` nor `<!--` can end or change the script. */
export function serializeState({ items, requestId }: State): string {
  return JSON.stringify({ items, requestId }).replace(/</g, '\\u003c')
}
