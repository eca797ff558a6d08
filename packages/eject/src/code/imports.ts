import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

/** The specifiers of all imports of a source: static, dynamic, and of types only. */
export function listImports(path: string, text: string): string[] {
  const found: string[] = []
  const add = (source: { value?: unknown } | null) => {
    if (typeof source?.value === 'string') found.push(source.value)
  }
  const { program, errors } = parseSync(path, text)
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`)
  new Visitor({
    ImportDeclaration: ({ source }) => add(source),
    ExportNamedDeclaration: ({ source }) => add(source),
    ExportAllDeclaration: ({ source }) => add(source),
    ImportExpression: ({ source }) => add(source as { value?: unknown }),
    TSImportType: ({ source }) => add(source),
  }).visit(program)
  return found
}

/**
 * The source to which an import leads inside a project. `#shared/` is its directory `shared/`, and `#page/` is `src/page/`.
 * @returns undefined for packages, the runtime's own modules, and what only Vite imports: styles and pictures
 */
export function resolveImport(importer: string, specifier: string): string | undefined {
  if (specifier === '#page/server.js') return 'src/page/server.d.ts' // built; this is what the sources see
  if (!/\.tsx?$/.test(specifier)) return undefined
  if (specifier.startsWith('#shared/')) return specifier.slice(1)
  if (specifier.startsWith('#page/')) return `src/${specifier.slice(1)}`
  if (specifier.startsWith('.')) return posix.join(posix.dirname(importer), specifier)
  return undefined
}

/**
 * The files that the roots import, directly or not, and the roots.
 * @throws {Error} if an import leads to no file
 */
export function follow(
  files: ReadonlyMap<string, string>,
  roots: readonly string[],
): ReadonlyMap<string, string> {
  const reached = new Map<string, string>()
  const visit = (path: string, importer: string) => {
    if (reached.has(path)) return
    const text = files.get(path)
    if (text === undefined) throw new Error(`${importer} needs ${path}, which is not there.`)
    reached.set(path, text)
    for (const specifier of listImports(path, text)) {
      const target = resolveImport(path, specifier)
      if (target !== undefined) visit(target, path)
    }
  }
  for (const root of roots) visit(root, 'A project')
  return reached
}

/** The package of a specifier; undefined for files of the project, modules of the runtime, and Vite's virtual modules. */
export function packageOf(specifier: string): string | undefined {
  if (/^(?:[.#]|node:|virtual:|bun(?::|$))/.test(specifier) || builtinModules.includes(specifier))
    return undefined
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0]
}
