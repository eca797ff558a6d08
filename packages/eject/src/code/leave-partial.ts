import type { Node } from 'oxc-parser'
import { editOnce } from './edit.ts'
import type { Span } from './module.ts'

/** The sources of a page that are about fragments, each in one place. */
const SOURCES = [
  'src/ssr.ts',
  'test/ssr.test.ts',
  'shared/page/entry-server.tsx',
  'shared/page/server.d.ts',
  'shared/page/dev/server.ts',
]

const ROUTE = '/partial/:locale/:slug'

/**
 * Leaves out the fragments, and with them a page's texts in three languages: only the race needs them. This removes their route, its test
 * and the function that renders them; what is then unused is pruned later.
 */
export function leavePartial(files: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...files, ...SOURCES.map((path) => [path, leaveIn(path, files.get(path) ?? '')] as const)])
}

function leaveIn(path: string, text: string): string {
  return editOnce(path, text, 'about fragments', (replace) => {
    const drop = ({ start, end }: Span) => replace({ start, end }, '')
    const dropElement = ({ start, end }: Span) => drop({ start, end: text[end] === ',' ? end + 1 : end })
    return {
      // A test, or a route that is a statement: `app.get(ROUTE, …)`.
      ExpressionStatement: (node) => text.slice(node.start, node.end).includes('/partial/') && drop(node),
      CallExpression(node) {
        const { callee, arguments: given } = node
        // `.get(ROUTE, …)` at the end of a chain.
        if (
          callee.type === 'MemberExpression' &&
          callee.object.type === 'CallExpression' &&
          isRoute(given[0])
        )
          drop({ start: callee.object.end, end: node.end })
        // `route('GET', ROUTE, …)` in a list
        if (callee.type === 'Identifier' && isRoute(given[1])) dropElement(node)
      },
      // `ROUTE: { GET: … }`
      Property: (node) => isRoute(node.key) && dropElement(node),
      ExportNamedDeclaration: (node) =>
        /^export (?:declare )?(?:const|function) renderPartial\b/.test(text.slice(node.start, node.end)) &&
        drop(node),
    }
  })
}

function isRoute(node: Node | undefined): boolean {
  return node?.type === 'Literal' && node.value === ROUTE
}
