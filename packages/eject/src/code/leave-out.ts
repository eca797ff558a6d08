import type { ObjectExpression, ObjectPattern } from 'oxc-parser'
import { edit } from './edit.ts'
import { SourceError, type Span } from './module.ts'

/**
 * A project is one process that listens on a port, because containers and service managers start as many as there should be. So nothing of
 * the cluster and of unix sockets is copied: this resolves the conditions that ask for them, and what is then unused is pruned later.
 */

/** Files that ask, each at least once. */
export const ASKING = ['config.ts', 'lifecycle.ts', 'listen.ts', 'log.ts'].map(
  (name) => `shared/process/${name}`,
)

/** Settings, options and variables that only a cluster or a unix socket needs. */
const NAMES = new Set(['socket', 'reusePort', 'cluster', 'workers'])

/** @throws {SourceError} if there is nothing to leave out, so that an edit which no longer matches is noticed */
export function leaveOut(path: string, text: string): string {
  let { edited, count } = resolveOnce(path, text)
  if (count === 0) throw new SourceError(`${path} does not ask for a cluster or a unix socket.`)
  while (count > 0) ({ edited, count } = resolveOnce(path, edited))
  return edited
}

/** Resolves the outermost places; places inside them have their turn afterwards. */
function resolveOnce(path: string, text: string): { edited: string; count: number } {
  const textOf = ({ start, end }: Span) => text.slice(start, end)
  return edit(path, text, (replaceNode) => {
    let done = 0
    const replace = (place: Span, by: string) => {
      if (place.start < done) return
      done = place.end
      replaceNode({ start: place.start, end: place.end }, by)
    }
    const dropProperties = (node: ObjectExpression | ObjectPattern) => {
      const { start, end, properties } = node
      const type = node.type === 'ObjectPattern' && node.typeAnnotation ? textOf(node.typeAnnotation) : ''
      const kept = properties.filter(
        (one) => !(one.type === 'Property' && one.key.type === 'Identifier' && NAMES.has(one.key.name)),
      )
      if (kept.length < properties.length)
        replace({ start, end }, `{ ${kept.map(textOf).join(', ')} }${type}`)
    }
    return {
      IfStatement(node) {
        const value = evaluate(textOf(node.test))
        if (value === undefined) return
        const rest = value ? node.consequent : node.alternate
        replace(node, rest === null ? '' : textOf(rest))
      },
      ConditionalExpression(node) {
        const value = evaluate(textOf(node.test))
        if (value !== undefined) replace(node, textOf(value ? node.consequent : node.alternate))
      },
      TemplateLiteral({ expressions }) {
        for (const { type, value, start, end } of expressions.filter((one) => one.type === 'Literal'))
          if (type === 'Literal' && typeof value === 'string')
            replace({ start: start - 2, end: end + 1 }, value)
      },
      VariableDeclaration(node) {
        const [declarator] = node.declarations
        if (declarator?.id.type === 'Identifier' && declarator.id.name === 'reusePort') replace(node, '')
      },
      TSPropertySignature(node) {
        if (node.key.type !== 'Identifier') return
        const isPath = path.endsWith('listen.ts') && node.key.name === 'path'
        if (isPath || NAMES.has(node.key.name)) replace(node, '')
      },
      ObjectExpression: dropProperties,
      ObjectPattern: dropProperties,
    }
  })
}

/** The value of a condition in a project; undefined if it has nothing to do with clusters or unix sockets. */
function evaluate(condition: string): boolean | undefined {
  if (/^(?:socket|cluster\.worker) === undefined$/.test(condition)) return true
  if (/\bcluster\.is(?:Worker|Primary)\b|^socket$|\b(?:socket|env\.SOCKET) !== undefined/.test(condition))
    return false
  return undefined
}
