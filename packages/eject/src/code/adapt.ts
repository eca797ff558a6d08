import type { Node } from 'oxc-parser'
import { editOnce } from './edit.ts'

/** Rewrites the few places of a source that are as they are because there are several apps. */

/** The server starts its one app, under its own name, instead of finding one among several. */
export function adaptServer(path: string, text: string, name: string): string {
  const imported = editOnce(path, text, 'the import of startRole', (replace) => ({
    ImportDeclaration(node) {
      if (node.source.value === '#shared/process/role.ts')
        replace(node, "import { start } from '#shared/process/lifecycle.ts'")
    },
  }))
  return editOnce(path, imported, 'the call of startRole', (replace) => ({
    CallExpression({ callee, arguments: [, , , createService] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'startRole' || createService === undefined) return
      replace(
        { start: callee.start, end: createService.start },
        `start('${name}', () => import('./app.ts'), `,
      )
    },
  }))
}

/** The test that starts the process does so without a role, and finds the project's name in the log. */
export function adaptStatusTest(path: string, text: string, appName: string, name: string): string {
  const started = editOnce(path, text, 'the arguments of the process', (replace) => ({
    ArrayExpression({ elements: [server, role] }) {
      if (isText(server, 'src/server.ts') && role) replace({ start: server.end, end: role.end }, '')
    },
  }))
  return editOnce(path, started, `'${appName}'`, (replace) => ({
    Literal(node) {
      if (isText(node, appName)) replace(node, `'${name}'`)
    },
  }))
}

function isText(node: Node | null | undefined, value: string): node is Node {
  return node?.type === 'Literal' && node.value === value
}
