import MagicString from 'magic-string'
import { type Comment, parseSync, Visitor, type VisitorObject } from 'oxc-parser'
import { includeComments, SourceError, type Span } from './module.ts'
import { remove } from './remove.ts'

/** Replaces a node with a text. An empty text removes the node and the comments above it. */
type Replace = (place: Span, text: string) => void

/**
 * Changes one place of a source that is found by its syntax.
 * @param what names the place in the message
 * @throws {SourceError} unless there is exactly one such place, so that an edit which no longer matches is noticed
 */
export function editOnce(path: string, text: string, what: string, find: Find): string {
  const { edited, count } = edit(path, text, find)
  if (count !== 1) throw new SourceError(`${path} has ${count} places that are ${what}, instead of one.`)
  return edited
}

type Find = (replace: Replace, comments: readonly Comment[]) => VisitorObject

/** Changes any number of places, also none. */
export function edit(path: string, text: string, find: Find): { edited: string; count: number } {
  const { program, comments, errors } = parseSync(path, text)
  if (errors[0] !== undefined) throw new SourceError(`${path}: ${errors[0].message}`)
  const edits = new MagicString(text)
  let count = 0
  const replace: Replace = ({ start, end }, by) => {
    count += 1
    if (by === '') remove(edits, { start: includeComments(text, comments, start), end })
    else edits.update(start, end, by)
  }
  new Visitor(find(replace, comments)).visit(program)
  return { edited: edits.toString(), count }
}
