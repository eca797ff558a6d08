import type { Node } from 'oxc-parser'
import { edit, editOnce } from './edit.ts'
import type { Span } from './module.ts'

/** Rewrites the few places in a source that exist because there are several apps. */

const IMPORT_NAME = "import manifest from '../package.json' with { type: 'json' }"

/** Makes the server start its one app under the name in package.json: only the entry of this role stays in the object `ROLES`. */
export function adaptServer(path: string, text: string, role: string): string {
  const named = editOnce(path, text, 'the import of beginRole', (replace) => ({
    ImportDeclaration(node) {
      if (node.source.value === '#shared/process/role.ts') replace(node, IMPORT_NAME)
    },
  }))
  const imported = editOnce(path, named, 'the import of run', (replace) => ({
    ImportSpecifier(node) {
      if (node.local.name === 'run') replace(node, 'begin, run')
    },
  }))
  let load = ''
  const single = editOnce(path, imported, `the object ROLES with an entry ${role}`, (replace) => ({
    VariableDeclaration(node) {
      const [declarator] = node.declarations
      if (declarator?.id.type !== 'Identifier' || declarator.id.name !== 'ROLES') return
      if (declarator.init?.type !== 'ObjectExpression') return
      for (const property of declarator.init.properties) {
        if (property.type !== 'Property' || property.key.type !== 'Identifier') continue
        if (property.key.name !== role) continue
        load = imported.slice(property.value.start, property.value.end)
        replace(node, '')
      }
    },
  }))
  return editOnce(path, single, 'the call of beginRole', (replace) => ({
    CallExpression({ callee, arguments: [framework, roles] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'beginRole') return
      if (framework === undefined || roles === undefined) return
      const types = single.slice(callee.end, framework.start)
      replace({ start: callee.start, end: roles.end }, `begin${types}manifest.name, ${load}`)
    },
  }))
}

/** Removes the check at start that the browser's files are there: in a project, one build makes them and the page that the server imports. */
export function leaveAssetCheck(path: string, text: string): string {
  return editOnce(path, text, 'the call of requireAssets', (replace) => ({
    ExpressionStatement(node) {
      const { expression: call } = node
      if (call.type !== 'CallExpression' || call.callee.type !== 'Identifier') return
      if (call.callee.name === 'requireAssets') replace(node, '')
    },
  }))
}

/** Removes the load shedder, because only pages are ever refused: statements, and members of objects and classes. */
export function leaveShedding(path: string, text: string): string {
  const isNamed = (key: Node) => key.type === 'Identifier' && key.name === 'shouldShed'
  const textOf = ({ start, end }: Span) => text.slice(start, end)
  const isOfIt = (node: Span) =>
    /^[\w.]+\.(?:set\(')?shouldShed\b|^app\.register\(loadShedding\b/.test(textOf(node))
  return edit(path, text, (replace) => ({
    ExpressionStatement: (node) => isOfIt(node) && replace(node, ''),
    VariableDeclaration: (node) => node.declarations.some(({ id }) => isNamed(id)) && replace(node, ''),
    ObjectExpression({ start, end, properties }) {
      const kept = properties.filter((one) => !(one.type === 'Property' && isNamed(one.key)))
      if (kept.length < properties.length) replace({ start, end }, `{ ${kept.map(textOf).join(', ')} }`)
    },
    TSPropertySignature: (node) => isNamed(node.key) && replace(node, ''),
    PropertyDefinition: (node) => isNamed(node.key) && replace(node, ''),
  })).edited
}
