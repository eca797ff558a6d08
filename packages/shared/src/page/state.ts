/** The data from which the browser builds the same tree as the server. */
export interface State {
  /** How many products the page shows. */
  items: number
  requestId: string
}

/** The `id` of the data block that carries the state. */
export const STATE_ID = 'state'

/** JSON for a script element. It has no `<`, so neither `</script` nor `<!--` can end or change the script. */
export function serializeState({ items, requestId }: State): string {
  return JSON.stringify({ items, requestId }).replace(/</g, '\\u003c')
}
