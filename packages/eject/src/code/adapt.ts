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

/** The build finds the page in `shared/`, and leaves out what only others read: the manifest for NGINX, the watch mode. */
export function adaptBuild(path: string, text: string): string {
  let built = editOnce(path, text, "'src/page'", (replace) => ({
    Literal(node) {
      if (isText(node, 'src/page')) replace(node, "'shared/page'")
    },
  }))
  for (const file of ['page/server.d.ts', 'page/manifest.json']) {
    built = editOnce(path, built, `the statement that writes ${file}`, (replace) => ({
      ExpressionStatement(node) {
        if (built.slice(node.start, node.end).includes(`'${file}'`)) replace(node, '')
      },
    }))
  }
  built = editOnce(path, built, 'the choice of the watch mode', (replace) => ({
    IfStatement(node) {
      if (built.slice(node.test.start, node.test.end).includes('--watch')) replace(node, 'await buildAll()')
    },
  }))
  built = editOnce(path, built, 'the parameter of buildAll', (replace) => ({
    FunctionDeclaration({ id, params: [parameter] }) {
      if (id?.name === 'buildAll' && parameter !== undefined) replace(parameter, '')
    },
  }))
  built = editOnce(path, built, 'the call of publish', (replace) => ({
    CallExpression({ callee }) {
      if (callee.type === 'Identifier' && callee.name === 'publish') replace(callee, 'swap')
    },
  }))
  return editOnce(path, built, 'the comment about the ways to call it', (replace, comments) => {
    for (const comment of comments)
      if (comment.value.includes('build.ts --watch')) replace(comment, BUILD_SUMMARY)
    return {}
  })
}

const BUILD_SUMMARY =
  '/** Builds the page into dist/: hashed files for the browser in assets/, and page/server.js. */'

function isText(node: Node | null | undefined, value: string): node is Node {
  return node?.type === 'Literal' && node.value === value
}
