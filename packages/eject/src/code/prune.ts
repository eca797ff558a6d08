import MagicString from 'magic-string'
import { type Module, parseModule, SourceError, type Statement } from './module.ts'
import { remove } from './remove.ts'
import { resolveImport } from './tree.ts'

/**
 * Removes unused files, declarations, exports and imports from a project's sources. An identifier counts as used wherever it
 * occurs. So too much may stay (if a local variable has the same name), but nothing that is needed is removed.
 * @param roots paths of files that are run or read from outside: all their exports stay
 * @throws {SourceError} if an import cannot be resolved
 */
export function prune(
  sources: ReadonlyMap<string, string>,
  roots: readonly string[],
): ReadonlyMap<string, string> {
  const uses = new Uses(sources)
  for (const root of roots) uses.useWhole(root)
  return new Map([...uses.modules()].map((module) => [module.path, uses.print(module)]))
}

/** The used parts, found by following references from the roots. */
class Uses {
  readonly #sources: ReadonlyMap<string, string>
  readonly #modules = new Map<string, Module>()
  readonly #statements = new Set<Statement>()
  /** `path name` of exports that another file imports, or that belong to a root. */
  readonly #exports = new Set<string>()
  /** `path name` of imports by their local name. */
  readonly #bindings = new Set<string>()

  constructor(sources: ReadonlyMap<string, string>) {
    this.#sources = sources
  }

  modules(): Iterable<Module> {
    return this.#modules.values()
  }

  useWhole(path: string): void {
    const module = this.#useModule(path)
    for (const name of module.statements.flatMap(({ exports }) => exports)) this.#useExport(path, name)
  }

  print({ path, text, statements }: Module): string {
    const edits = new MagicString(text)
    for (const statement of statements) {
      const { start, end, codeStart, declarationStart, exports, imports } = statement
      if (!this.#statements.has(statement)) remove(edits, { start, end })
      else if (imports !== undefined) this.#printImports(edits, path, statement)
      else if (
        declarationStart !== undefined &&
        !exports.some((name) => this.#exports.has(`${path} ${name}`))
      )
        edits.remove(codeStart, declarationStart)
    }
    return edits.toString()
  }

  #printImports(edits: MagicString, path: string, { codeStart, end, imports }: Statement): void {
    if (imports === undefined) return
    const { from, typeOnly, bindings } = imports
    const used = bindings.filter(({ local }) => this.#bindings.has(`${path} ${local}`))
    if (used.length === bindings.length) return
    const isNamed = ({ imported }: { imported: string }) => imported !== 'default' && imported !== '*'
    const named = used.filter(isNamed).map(({ text }) => text)
    const others = used.filter((binding) => !isNamed(binding)).map(({ text }) => text)
    const list = [...others, ...(named.length > 0 ? [`{ ${named.join(', ')} }`] : [])].join(', ')
    edits.update(codeStart, end, `import ${typeOnly ? 'type ' : ''}${list} from '${from}'`)
  }

  #useModule(path: string): Module {
    const known = this.#modules.get(path)
    if (known !== undefined) return known
    const text = this.#sources.get(path)
    if (text === undefined) throw new SourceError(`${path} is imported, but not there.`)
    const module = parseModule(path, text)
    this.#modules.set(path, module)
    for (const statement of module.statements) if (!statement.removable) this.#use(module, statement)
    return module
  }

  #useExport(path: string, name: string): void {
    const key = `${path} ${name}`
    if (this.#exports.has(key)) return
    this.#exports.add(key)
    const module = this.#useModule(path)
    const exporting = module.statements.filter(({ exports }) => exports.includes(name))
    if (exporting.length === 0) throw new SourceError(`${path} has no export '${name}'.`)
    for (const statement of exporting) this.#use(module, statement)
  }

  #use(module: Module, statement: Statement): void {
    if (this.#statements.has(statement)) return
    this.#statements.add(statement)
    const { path } = module
    for (const from of statement.wholes) {
      const target = resolveImport(path, from)
      if (target !== undefined) this.useWhole(target)
    }
    if (statement.imports?.bindings.length === 0) {
      const target = resolveImport(path, statement.imports.from)
      if (target !== undefined) this.#useModule(target)
    }
    for (const name of statement.references) this.#useName(module, name)
  }

  #useName(module: Module, name: string): void {
    const { path } = module
    for (const statement of module.statements) {
      if (statement.declares.includes(name)) this.#use(module, statement)
      const binding = statement.imports?.bindings.find(({ local }) => local === name)
      if (binding === undefined || statement.imports === undefined) continue
      this.#bindings.add(`${path} ${name}`)
      this.#use(module, statement)
      const target = resolveImport(path, statement.imports.from)
      if (target === undefined) continue
      if (binding.imported === '*') this.useWhole(target)
      else this.#useExport(target, binding.imported)
    }
  }
}
