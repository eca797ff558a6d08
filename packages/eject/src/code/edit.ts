import MagicString from 'magic-string'
import { type Comment, parseSync, Visitor, type VisitorObject } from 'oxc-parser'
import { SourceError, type Span } from './module.ts'

/** Puts a text in the place of a node; an empty one removes it. */
export type Replace = (place: Span, text: string) => void

/**
 * Changes one place of a source that is found by its syntax.
 * @param what names the place in the message
 * @throws {SourceError} unless there is exactly one such place: an edit that has lost its place must not pass silently
 */
export function editOnce(
  path: string,
  text: string,
  what: string,
  find: (replace: Replace, comments: readonly Comment[]) => VisitorObject,
): string {
  const { program, comments, errors } = parseSync(path, text)
  if (errors[0] !== undefined) throw new SourceError(`${path}: ${errors[0].message}`)
  const edits = new MagicString(text)
  let count = 0
  const replace: Replace = ({ start, end }, by) => {
    count += 1
    if (by === '') edits.remove(start, end)
    else edits.update(start, end, by)
  }
  new Visitor(find(replace, comments)).visit(program)
  if (count !== 1) throw new SourceError(`${path} has ${count} places that are ${what}, instead of one.`)
  return edits.toString()
}
