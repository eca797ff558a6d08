import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eject } from '@startgrid/eject/eject.ts'
import type { App, Role } from '@startgrid/grid/apps.ts'

/** What a reader does with an app on the first day: a copy of it, with routes that are not ours. */

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** A file that docs/add-a-route.md shows. */
export interface Snippet {
  /** Its path in the app, such as `src/hello.ts`. */
  file: string
  code: string
}

/**
 * The files that docs/add-a-route.md shows for a framework: code blocks with a title, below the heading that ends with its name in
 * parentheses, such as `## Express (express)`.
 * @throws {Error} if there are none
 */
export function readSnippets(markdown: string, framework: string): Snippet[] {
  const section =
    markdown.split(/^## /m).find((text) => text.split('\n', 1)[0]?.endsWith(`(${framework})`)) ?? ''
  const blocks = section.matchAll(/^```(?:ts|js) title="([^"]+)"\n([\s\S]*?)^```$/gm)
  const snippets = [...blocks].map(([, file = '', code = '']) => ({ file, code }))
  if (snippets.length === 0) throw new Error(`docs/add-a-route.md has no code with a title for ${framework}.`)
  return snippets
}

/** A copy of an app in a folder of its own, which installs nothing: the packages are those of the app. */
export interface Copy {
  app: App
  /** Replaces or adds a file. */
  write(snippet: Snippet): void
  read(file: string): string
  remove(): void
}

/** @param app stays as it is */
export function copyApp(app: App): Copy {
  const root = mkdtempSync(join(tmpdir(), 'startgrid-next-route-'))
  const directory = join(root, 'apps', app.framework)
  mkdirSync(join(root, 'apps'))
  symlinkSync(join(ROOT, 'tsconfig.base.json'), join(root, 'tsconfig.base.json'))
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  cpSync(app.directory, directory, { recursive: true, filter: (path) => !path.includes('node_modules') })
  symlinkSync(join(app.directory, 'node_modules'), join(directory, 'node_modules'))
  return createCopy(app, directory, root)
}

/** The app as `pnpm eject` makes it. Instead of installing, it gets the packages of the app and of what the app shares. */
export async function ejectApp(app: App): Promise<Copy> {
  const root = mkdtempSync(join(tmpdir(), 'startgrid-next-route-'))
  const directory = join(root, 'my-app')
  await eject({
    app,
    target: directory,
    name: 'my-app',
    git: false,
    lockfile: false,
    signal: new AbortController().signal,
  })
  for (const packages of [ROOT, app.directory, join(ROOT, 'packages/shared')])
    linkPackages(join(packages, 'node_modules'), join(directory, 'node_modules'))
  return createCopy(app, directory, root)
}

/** One link per package, so that those of several folders are in one. */
function linkPackages(from: string, to: string): void {
  for (const name of globSync(['*', '@*/*'], { cwd: from })) {
    if (name === '.bin' || /^@[^/]*$/.test(name) || existsSync(join(to, name))) continue
    mkdirSync(dirname(join(to, name)), { recursive: true })
    symlinkSync(join(from, name), join(to, name))
  }
}

function createCopy(app: App, directory: string, root: string): Copy {
  return {
    app: { ...app, directory },
    write: ({ file, code }) => writeFileSync(join(directory, file), code),
    read: (file) => readFileSync(join(directory, file), 'utf8'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** A path that has a GET in each role: a POST is put beside it. */
export const EXISTING: Readonly<Record<Role, string>> = { hello: '/json', ssr: '/', status: '/_/status' }

/**
 * Puts a reader's routes beside those of the role.
 * @param code exports `withReaderRoutes(routes, existing)` in the framework's own form
 */
export function addReaderRoutes({ app, write }: Copy, code: string): void {
  const { role, directory } = app
  renameSync(join(directory, `src/${role}.ts`), join(directory, `src/own-routes.ts`))
  write({ file: 'src/reader-routes.ts', code })
  write({
    file: `src/${role}.ts`,
    code: `import { ${role} as own } from './own-routes.ts'
import { withReaderRoutes } from './reader-routes.ts'

export * from './own-routes.ts'
export const ${role} = withReaderRoutes(own, '${EXISTING[role]}')
`,
  })
}
