import type MagicString from 'magic-string'
import type { Span } from './module.ts'

/** Removes a place, and its lines if they are empty then. Otherwise empty lines would separate what belongs together. */
export function remove(edits: MagicString, { start, end }: Span): void {
  const { original } = edits
  const indent = /[ \t]*$/.exec(original.slice(0, start))?.[0].length ?? 0
  const first = start - indent
  const rest = /^[ \t]*\n/.exec(original.slice(end))?.[0].length
  const ownsLines = rest !== undefined && (first === 0 || original[first - 1] === '\n')
  if (ownsLines) edits.remove(first, end + rest)
  else edits.remove(start, end)
}
