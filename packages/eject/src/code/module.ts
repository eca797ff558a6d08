import { type Comment, type Node, type Program, parseSync, Visitor } from 'oxc-parser'

/** One source file: its declarations, imports and exports at the top level. */

export interface Span {
  start: number
  end: number
}

/** An imported name. */
export interface Binding {
  /** Its name in the other module; `*` for the whole module. */
  imported: string
  local: string
  /** Its text in the import, with `type` and `as`. */
  text: string
}

/** One statement of the top level. */
export interface Statement extends Span {
  /** Its start without the comments above it. */
  codeStart: number
  declares: readonly string[]
  exports: readonly string[]
  /** Whether it can be removed if its declarations are unused. */
  removable: boolean
  /** Where the declaration behind `export` starts. */
  declarationStart: number | undefined
  /** Identifiers that may refer to the top level of this module. */
  references: ReadonlySet<string>
  /** Modules that it imports as a whole: `import()`, and `import()` as a type. */
  wholes: readonly string[]
  /** Of an import statement. */
  imports: { from: string; typeOnly: boolean; bindings: readonly Binding[] } | undefined
}

export interface Module {
  path: string
  text: string
  program: Program
  statements: readonly Statement[]
}

/** A source that this package cannot process. */
export class SourceError extends Error {
  override name = 'SourceError'
}

/** @throws {SourceError} */
export function parseModule(path: string, text: string): Module {
  const { program, comments, errors } = parseSync(path, text)
  const [error] = errors
  if (error !== undefined) throw new SourceError(`${path}: ${error.message}`)
  const uses = findUses(program)
  const statements = program.body.map((node) =>
    describe(path, text, node, includeComments(text, comments, node.start), uses),
  )
  return { path, text, program, statements }
}

interface Uses {
  identifiers: { name: string; start: number }[]
  wholes: { from: string; start: number }[]
}

/** Every identifier that is not just the name of a property. */
function findUses(program: Program): Uses {
  const identifiers: Uses['identifiers'] = []
  const wholes: Uses['wholes'] = []
  const properties = new Set<Node>()
  const skipKey = (node: { key: Node; computed?: boolean; shorthand?: boolean }) => {
    if (!node.computed && !node.shorthand) properties.add(node.key)
  }
  new Visitor({
    MemberExpression(node) {
      if (!node.computed) properties.add(node.property)
    },
    Property: skipKey,
    MethodDefinition: skipKey,
    PropertyDefinition: skipKey,
    TSPropertySignature: skipKey,
    TSMethodSignature: skipKey,
    Identifier(node) {
      if (!properties.has(node)) identifiers.push(node)
    },
    JSXIdentifier(node) {
      identifiers.push(node)
    },
    ImportExpression(node) {
      if (node.source.type === 'Literal') wholes.push({ from: String(node.source.value), start: node.start })
    },
    TSImportType(node) {
      wholes.push({ from: node.source.value, start: node.start })
    },
  }).visit(program)
  return { identifiers, wholes }
}

/**
 * The start of a statement with the comments right above it. A comment that is followed by an empty line belongs to the file. A comment
 * behind code on the same line belongs to that code.
 */
export function includeComments(text: string, comments: readonly Comment[], start: number): number {
  let first = start
  for (const comment of comments.toReversed()) {
    const { start: from, end: to } = comment
    if (to > first || !/^[^\S\n]*\n?[^\S\n]*$/.test(text.slice(to, first))) continue
    if (/\S/.test(text.slice(text.lastIndexOf('\n', from - 1) + 1, from))) break
    first = from
  }
  return first
}

function describe(path: string, text: string, node: Node, start: number, uses: Uses): Statement {
  const isInside = (use: { start: number }) => use.start >= node.start && use.start < node.end
  const statement: Statement = {
    start,
    end: node.end,
    codeStart: node.start,
    declares: [],
    exports: [],
    removable: false,
    declarationStart: undefined,
    references: new Set(uses.identifiers.filter(isInside).map(({ name }) => name)),
    wholes: uses.wholes.filter(isInside).map(({ from }) => from),
    imports: undefined,
  }
  if (node.type === 'ImportDeclaration') {
    const bindings = node.specifiers.map((specifier) => ({
      imported:
        specifier.type === 'ImportNamespaceSpecifier'
          ? '*'
          : specifier.type === 'ImportDefaultSpecifier'
            ? 'default'
            : nameOf(specifier.imported),
      local: specifier.local.name,
      text: text.slice(specifier.start, specifier.end),
    }))
    const imports = { from: node.source.value, typeOnly: node.importKind === 'type', bindings }
    return { ...statement, references: new Set(), removable: bindings.length > 0, imports }
  }
  if (node.type === 'ExportNamedDeclaration') {
    const { declaration, specifiers } = node
    if (declaration === null) {
      if (node.source !== null) throw new SourceError(`${path}: re-exports are not understood here.`)
      return { ...statement, exports: specifiers.map(({ exported }) => nameOf(exported)), removable: true }
    }
    const declares = declaredBy(declaration)
    return { ...statement, declares, exports: declares, removable: true, declarationStart: declaration.start }
  }
  if (node.type === 'ExportDefaultDeclaration') return { ...statement, exports: ['default'], removable: true }
  if (node.type === 'ExportAllDeclaration') return { ...statement, wholes: [node.source.value] }
  const declares = declaredBy(node)
  return { ...statement, declares, removable: declares.length > 0 }
}

function nameOf(name: { type: string; name?: string; value?: unknown }): string {
  return name.name ?? String(name.value)
}

/** The declared names. Patterns have none here, so they are always kept. */
function declaredBy(node: Node): string[] {
  switch (node.type) {
    case 'VariableDeclaration':
      return node.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? id.name : []))
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
    case 'ClassDeclaration':
      return node.id === null ? [] : [node.id.name]
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
      return [node.id.name]
    default:
      return []
  }
}
