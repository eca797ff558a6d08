import { parseSync, printSync } from '@swc/core'

/**
 * Shrinks the call frames of large functions in an ES5 program, without changing what it does.
 *
 * njs's own engine has 64 KiB for all frames together (`NJS_MAX_STACK_SIZE`, up to and including 0.8). During a call, a frame holds
 * 24 bytes for each variable of the function, and for each argument of each call in its source, executed or not
 * (`njs_scope_temp_index` in njs_parser.c). React's `renderElement` has 100 variables and 280 such arguments: 10 KB. It calls
 * itself for each level of the tree, so the stack overflows at `<html>`.
 *
 * So in large functions,
 * - `f(a, b)` becomes `[f, a, b].$call` and `o.m(a, b)` becomes `[o, 'm', a, b].$method`: an array literal reserves
 *   nothing, and the getter makes the call;
 * - variables become properties of one object, unless the function has inner functions.
 *
 * If the stack overflows nevertheless, React continues with an empty stack: it looks for exactly the message that njs throws,
 * "Maximum call stack size exceeded". That is slower, but correct.
 */
export function shrinkFrames(code: string): string {
  const program = parseSync(code, { syntax: 'ecmascript', isModule: false, target: 'es5' })
  const functions = [...descend(program as unknown as Tree)].filter(isFunction)
  for (const node of functions) shrink(node)
  return GETTERS + printSync(program).code
}

/** Number of variables and arguments. Below it, a frame costs less than an array for each call. */
const LARGE = 40

const GETTERS = `Object.defineProperty(Array.prototype, '$call', { get: function () {
  var f = this[0];
  return this.length === 2 ? f(this[1]) : this.length === 3 ? f(this[1], this[2]) : f.apply(undefined, this.slice(1));
} });
Object.defineProperty(Array.prototype, '$method', { get: function () {
  var o = this[0];
  return this.length === 3 ? o[this[1]](this[2]) : o[this[1]].apply(o, this.slice(2));
} });
`

/** A node of the syntax tree. Children are found by inspecting all properties. */
interface Tree {
  type: string
  [key: string]: unknown
}

function shrink(node: Tree): void {
  const own = [...descend(node.body, isFunction)]
  const calls = own.filter(isCall)
  const names = ownVariables(node, own)
  const slots = calls.reduce((sum, call) => sum + list(call.arguments).length, names.size)
  // The function around the bundle has no name. It returns before any page is rendered, so its frame does not matter.
  if (slots < LARGE || !isTree(node.identifier)) return
  for (const call of calls) become(call, toGetter(call))
  if (!own.some(isFunction)) moveVariables(node, own, names)
}

function toGetter({ callee, arguments: passed }: Tree): Tree {
  const elements = list(passed)
  const direct = { type: 'ArrayExpression', span: SPAN, elements: [element(callee), ...elements] }
  if (!isTree(callee) || callee.type !== 'MemberExpression') return member(direct, '$call')
  const { object, property } = callee
  const name =
    isTree(property) && property.type === 'Computed' ? property.expression : text((property as Tree).value)
  return member(
    { type: 'ArrayExpression', span: SPAN, elements: [element(object), element(name), ...elements] },
    '$method',
  )
}

/** `var a = 1, b` becomes `$.a = 1`, and each `a` becomes `$.a`. */
function moveVariables(node: Tree, own: readonly Tree[], names: ReadonlySet<string>): void {
  const references = own.filter((child) => child.type === 'Identifier' && names.has(String(child.value)))
  const fixed = new Set(own.flatMap(nameOnly))
  for (const reference of references) {
    if (!fixed.has(reference)) become(reference, member(identifier('$'), String(reference.value)))
  }
  for (const child of own) {
    if (child.type === 'ForStatement' && isVariables(child.init)) child.init = assignments(child.init)
    if (child.type === 'ForInStatement' && isVariables(child.left))
      child.left = list(child.left.declarations)[0]?.id
  }
  for (const child of own.filter(isVariables)) {
    const expression = assignments(child)
    become(
      child,
      expression === null
        ? { type: 'EmptyStatement', span: SPAN }
        : { type: 'ExpressionStatement', span: SPAN, expression },
    )
  }
  const empty = { type: 'ObjectExpression', span: SPAN, properties: [] }
  const body = node.body as { stmts: Tree[] }
  body.stmts.unshift({
    type: 'VariableDeclaration',
    span: SPAN,
    ctxt: 0,
    kind: 'var',
    declare: false,
    declarations: [
      { type: 'VariableDeclarator', span: SPAN, id: identifier('$'), init: empty, definite: false },
    ],
  })
}

/** The variables of a function, except those that share their name with a parameter or a caught exception. */
function ownVariables(node: Tree, own: readonly Tree[]): Set<string> {
  const names = new Set(
    own.filter(({ type }) => type === 'VariableDeclarator').map(({ id }) => String((id as Tree).value)),
  )
  const others = [
    ...list(node.params).map(({ pat }) => pat),
    ...own.filter(({ type }) => type === 'CatchClause').map(({ param }) => param),
  ]
  for (const other of others) if (isTree(other)) names.delete(String(other.value))
  return names
}

/** The identifiers directly below a node that name a property or a label. */
function nameOnly({ type, property, key, label }: Tree): unknown[] {
  return type === 'MemberExpression' ? [property] : [key, label]
}

/** The initial values of a declaration as one expression; null if there are none. */
function assignments({ declarations }: Tree): Tree | null {
  const expressions = list(declarations)
    .filter(({ init }) => isTree(init))
    .map(({ id, init }) => ({
      type: 'AssignmentExpression',
      span: SPAN,
      operator: '=',
      left: id,
      right: init,
    }))
  if (expressions.length < 2) return expressions[0] ?? null
  return { type: 'SequenceExpression', span: SPAN, expressions }
}

/** All nodes at and below a value. It does not descend into nodes for which `stop` returns true. */
function* descend(value: unknown, stop: (node: Tree) => boolean = () => false): Generator<Tree> {
  if (Array.isArray(value)) for (const item of value) yield* descend(item, stop)
  else if (isTree(value)) {
    yield value
    if (!stop(value)) yield* descend(Object.values(value), stop)
  } else if (typeof value === 'object' && value !== null) yield* descend(Object.values(value), stop)
}

/** A call that can be replaced. Not one with a function as an argument: inside an array, njs 0.7 gives it the wrong variables. */
function isCall({ type, arguments: passed }: Tree): boolean {
  if (type !== 'CallExpression') return false
  const expressions = list(passed).map(({ expression }) => expression)
  return (
    expressions.length > 0 && !expressions.some((expression) => isTree(expression) && isFunction(expression))
  )
}

function isFunction({ type }: Tree): boolean {
  return type === 'FunctionDeclaration' || type === 'FunctionExpression'
}

function isVariables(value: unknown): value is Tree {
  return isTree(value) && value.type === 'VariableDeclaration'
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function list(value: unknown): Tree[] {
  return Array.isArray(value) ? value : []
}

/** Replaces a node in place. */
function become(node: Tree, next: Tree): void {
  for (const key of Object.keys(node)) delete node[key]
  Object.assign(node, next)
}

const SPAN = { start: 0, end: 0, ctxt: 0 }

function identifier(value: string): Tree {
  return { type: 'Identifier', span: SPAN, ctxt: 0, value, optional: false }
}

function member(object: Tree, name: string): Tree {
  return { type: 'MemberExpression', span: SPAN, object, property: identifier(name) }
}

function text(value: unknown): Tree {
  return { type: 'StringLiteral', span: SPAN, value }
}

function element(expression: unknown): { spread: null; expression: unknown } {
  return { spread: null, expression }
}
