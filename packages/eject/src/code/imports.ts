import { builtinModules } from 'node:module'
import MagicString from 'magic-string'
import { parseSync, Visitor } from 'oxc-parser'

/** Every import of a source: static, dynamic, and of types only. */
export function listImports(path: string, text: string): { from: string; start: number; end: number }[] {
  const found: { from: string; start: number; end: number }[] = []
  const add = (source: { value?: unknown; start: number; end: number } | null) => {
    if (typeof source?.value === 'string')
      found.push({ from: source.value, start: source.start, end: source.end })
  }
  new Visitor({
    ImportDeclaration: ({ source }) => add(source),
    ExportNamedDeclaration: ({ source }) => add(source),
    ExportAllDeclaration: ({ source }) => add(source),
    ImportExpression: ({ source }) => add(source as { value?: unknown; start: number; end: number }),
    TSImportType: ({ source }) => add(source),
  }).visit(parseSync(path, text).program)
  return found
}

/** Replaces the specifiers of imports. */
export function mapImports(path: string, text: string, map: (from: string) => string): string {
  const edits = new MagicString(text)
  for (const { from, start, end } of listImports(path, text)) {
    const to = map(from)
    if (to !== from) edits.update(start, end, `'${to}'`)
  }
  return edits.toString()
}

/** The package of a specifier; undefined for files of the project, modules of the runtime, and Vite's virtual modules. */
export function packageOf(specifier: string): string | undefined {
  if (/^(?:[.#]|node:|virtual:|bun(?::|$))/.test(specifier) || builtinModules.includes(specifier))
    return undefined
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0]
}
