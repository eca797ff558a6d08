import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseSync, printSync, transform } from '@swc/core'
import type { Plugin } from 'esbuild'
import { bundle as bundleForQuickJs } from '../qjs/bundle.ts'

/** Bundles an entry file into one module for `js_import`, in ES5 for njs's own engine. Its only form of export is `export default`. */
export async function bundle(entry: string): Promise<string> {
  const program = await bundleForQuickJs(entry, { format: 'iife', globalName: 'app', plugins: [adaptReact] })
  const { code } = await transform(program, {
    isModule: false,
    jsc: { target: 'es5', parser: { syntax: 'ecmascript' } },
  })
  return `${shrinkFrames(code)}export default app.default;\n`
}

const POLYFILLS = fileURLToPath(new URL('polyfills.js', import.meta.url))

/**
 * Loads polyfills before React. And joins the chunks of the page once: `result += chunk` copies the whole result, and this engine frees no
 * memory before the request ends. 1,000 items took 6 to 9 s instead of 1 s.
 */
const adaptReact: Plugin = {
  name: 'adapt-react',
  setup({ onLoad }) {
    onLoad({ filter: /react-dom-server-legacy\.browser\.production\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, 'utf8')
      for (const [part, replacement] of [
        ['"use strict";', `"use strict";\nrequire(${JSON.stringify(POLYFILLS)});`],
        ['result = "",', 'result = [],'],
        ['(result += chunk)', 'result.push(chunk)'],
        ['return result;\n}\nexports', 'return result.join("");\n}\nexports'],
      ] as const) {
        if (contents.split(part).length !== 2)
          throw new Error(`React's source no longer has one ${JSON.stringify(part)}.`)
        contents = contents.replace(part, () => replacement)
      }
      return { contents }
    })
  },
}

/**
 * Shrinks the call frames of large functions in an ES5 program, without changing what it does.
 *
 * njs's own engine has 64 KiB for all frames together (`NJS_MAX_STACK_SIZE`, up to and including 0.8). During a call, a frame holds
 * 24 bytes for each argument of each call in the function's source, executed or not (`njs_scope_temp_index` in njs_parser.c). React's
 * `renderElement` has 280 such arguments. Without this, the stack overflows at `<html>`.
 *
 * So in large functions, `f(a, b)` becomes `[f, a, b].$call` and `o.m(a, b)` becomes `[o, 'm', a, b].$method`: an array literal reserves
 * nothing, and the getter makes the call. Then 60 components and elements inside each other render; the end of a deeper page is missing.
 */
export function shrinkFrames(code: string): string {
  const program = parseSync(code, { syntax: 'ecmascript', isModule: false, target: 'es5' })
  for (const node of descend(program)) {
    // The functions around modules have no name. They return before any page is rendered, so their frames do not matter.
    if (!isFunction(node) || !isTree(node.identifier)) continue
    const calls = [...descend(node.body, isFunction)].filter(isCall)
    const slots = calls.reduce((sum, call) => sum + call.arguments.length, 0)
    if (slots >= LARGE) for (const call of calls) Object.assign(call, toGetter(call))
  }
  return GETTERS + printSync(program).code
}

/** Number of arguments. Below it, a frame costs less than an array for each call. */
const LARGE = 40

const GETTERS = `Object.defineProperty(Array.prototype, '$call', { configurable: true, get: function () {
  var f = this[0];
  return this.length === 2 ? f(this[1]) : this.length === 3 ? f(this[1], this[2]) : f.apply(undefined, this.slice(1));
} });
Object.defineProperty(Array.prototype, '$method', { configurable: true, get: function () {
  var o = this[0];
  return this.length === 3 ? o[this[1]](this[2]) : o[this[1]].apply(o, this.slice(2));
} });
`

/** A node of the syntax tree. Children are found by inspecting all properties. */
interface Tree {
  type: string
  [key: string]: unknown
}

interface Call extends Tree {
  callee: Tree
  arguments: { expression: Tree }[]
}

const SPAN = { start: 0, end: 0, ctxt: 0 }

function toGetter({ callee, arguments: passed }: Call): Tree {
  const { object, property } = callee as Call & { object: Tree; property: Tree }
  const isMethod = callee.type === 'MemberExpression'
  const name =
    property?.type === 'Computed' ? property.expression : { ...property, type: 'StringLiteral', span: SPAN }
  const called = isMethod ? [{ expression: object }, { expression: name }] : [{ expression: callee }]
  return {
    type: 'MemberExpression',
    span: SPAN,
    object: { type: 'ArrayExpression', span: SPAN, elements: [...called, ...passed] },
    property: {
      type: 'Identifier',
      span: SPAN,
      ctxt: 0,
      value: isMethod ? '$method' : '$call',
      optional: false,
    },
  }
}

/** All nodes at and below a value. It does not descend into nodes for which `stop` returns true. */
function* descend(value: unknown, stop?: (node: Tree) => boolean): Generator<Tree> {
  if (typeof value !== 'object' || value === null) return
  if (isTree(value)) {
    yield value
    if (stop?.(value)) return
  }
  for (const child of Object.values(value)) yield* descend(child, stop)
}

/** A call that can be replaced. Not one with a function as an argument: inside an array, njs 0.7 gives it the wrong variables. */
function isCall(node: Tree): node is Call {
  if (node.type !== 'CallExpression') return false
  const { arguments: passed } = node as Call
  return passed.length > 0 && !passed.some(({ expression }) => isFunction(expression))
}

function isFunction({ type }: Tree): boolean {
  return type === 'FunctionDeclaration' || type === 'FunctionExpression'
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
