import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { transform } from '@swc/core'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import type { Role } from '../runner/nginx-config.ts'
import { shrinkFrames } from './frames.ts'

/** `qjs`: QuickJS. `njs`: njs's own, older engine. The names are those of `js_engine`. */
export const ENGINES = ['qjs', 'njs'] as const
type Engine = (typeof ENGINES)[number]

const ROOT = join(import.meta.dirname, '..')
const resolve = createRequire(import.meta.url).resolve

/** The module with only `renderToString`. `react-dom/server` would also load the streaming renderer, and be twice the size. */
const REACT_SERVER = join(dirname(resolve('react-dom')), 'cjs/react-dom-server-legacy.browser.production.js')

/** The app of one role, as one file for `js_import`. */
export function bundleRole(role: Role, engine: Engine): Promise<string> {
  const polyfills = role === 'ssr' ? `import './engines/polyfills/${engine}'\n` : ''
  return bundleRoutes(role, `${polyfills}import { ${role} as routes } from './src/${role}.ts'`, engine)
}

/**
 * Bundles the app with any routes.
 * @param name used in error messages
 * @param imports statements that import `routes`; paths are relative to the package
 */
export async function bundleRoutes(name: string, imports: string, engine: Engine): Promise<string> {
  const code = await bundle(name, imports, engine)
  return engine === 'qjs' ? asModule(code) : asModule(shrinkFrames(await toEs5(code)))
}

/** @returns a program that leaves the app in the variable `app` */
async function bundle(name: string, imports: string, engine: Engine): Promise<string> {
  const contents = `${imports}
import { createApp } from './src/app.ts'
export default createApp(routes)`
  const options: BuildOptions = {
    stdin: { contents, resolveDir: ROOT },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'es2020',
    charset: 'utf8',
    legalComments: 'none',
    alias: { 'react-dom/server': REACT_SERVER },
    // Only ASSETS_DIR uses import.meta. With a constant in its place, the bundler removes it.
    define: { 'process.env.NODE_ENV': '"production"', 'import.meta.url': '""' },
    plugins: engine === 'njs' ? [joinChunks] : [],
  }
  const [file] = (await build(options)).outputFiles ?? []
  const [statement, app] = /\nexport \{\n {2}(\S+) as default\n\};\n$/.exec(file?.text ?? '') ?? []
  if (file === undefined || statement === undefined)
    throw new Error(`The bundle of ${name} does not end with its export.`)
  const body = file.text.slice(0, -statement.length)
  return `${LOAD_FAILURE}\nvar app = (function () {\ntry {\n${body}\nreturn ${app};\n} catch (error) {\nreturn loadFailure(error);\n}\n})();`
}

/** If a module throws while it loads, njs reports only "js function not found" for each request. This logs the reason. */
const LOAD_FAILURE = `function loadFailure(error) {
  function respond(r) {
    r.error('the app does not load: ' + error + '\\n' + error.stack);
    r.return(500);
  }
  return { respond: respond };
}`

/**
 * `result += chunk` copies the whole result each time, and njs's own engine frees no memory before the request ends. 1000 items took 11 s
 * instead of 1 s.
 */
const joinChunks: Plugin = {
  name: 'join-chunks',
  setup({ onLoad }) {
    onLoad({ filter: /react-dom-server-legacy\.browser\.production\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, 'utf8')
      contents = replaceOnce(contents, 'result = "",', 'result = [],')
      contents = replaceOnce(contents, '(result += chunk)', 'result.push(chunk)')
      return {
        contents: replaceOnce(contents, 'return result;\n}\nexports', 'return result.join("");\n}\nexports'),
      }
    })
  },
}

function replaceOnce(text: string, part: string, replacement: string): string {
  if (text.split(part).length !== 2)
    throw new Error(`React's source no longer has one ${JSON.stringify(part)}.`)
  return text.replace(part, () => replacement)
}

async function toEs5(code: string): Promise<string> {
  const options = { isModule: false, jsc: { target: 'es5', parser: { syntax: 'ecmascript' } } } as const
  return (await transform(code, options)).code
}

/** The only form of export that njs's own engine supports. */
function asModule(code: string): string {
  return `${code}\nexport default app;\n`
}
