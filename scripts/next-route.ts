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
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eject } from '@startgrid/eject/eject.ts'
import type { App, Role } from '@startgrid/grid/apps.ts'

/** What a reader does with an app in the first two weeks: a copy of it, with routes that are not ours. */

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const SHARED = join(ROOT, 'packages/shared')

/** A file that the add-a-route.md of a framework shows. */
export interface Snippet {
  /** Its path in the app, such as `src/events.ts`. */
  file: string
  code: string
}

/**
 * What a page of the documentation shows: whole files, and changes of a file.
 * @throws {Error} if there are no files
 */
export function readSnippets(path: string): { files: Snippet[]; diffs: Snippet[] } {
  const markdown = readFileSync(path, 'utf8')
  const blocks = markdown.matchAll(/^```(\w+) title="([^"]+)"\n([\s\S]*?)^```$/gm)
  const all = Array.from(blocks, ([, language, file = '', code = '']) => ({ language, file, code }))
  if (all.length === 0) throw new Error(`${path} has no code with a title.`)
  const diffs = all.filter(({ language }) => language === 'diff')
  return { diffs, files: all.filter((one) => !diffs.includes(one)) }
}

/** A copy of an app in a folder of its own, which installs nothing: the packages are those of the app. */
export interface Copy {
  app: App
  /** The folders whose scripts build and check it, in this order. */
  packages: readonly string[]
  /** The folder of its pages; undefined if it has none. */
  pages: string | undefined
  /** Replaces or adds a file. */
  write(snippet: Snippet): void
  read(file: string): string
  remove(): void
}

/** @param app stays as it is; with a page, `shared` is copied as well, and not built yet */
export function copyApp(app: App): Copy {
  const root = mkdtempSync(join(tmpdir(), 'startgrid-next-route-'))
  const directory = join(root, 'apps', app.framework)
  const shared = join(root, 'packages/shared')
  for (const name of ['tsconfig.base.json', 'node_modules']) symlinkSync(join(ROOT, name), join(root, name))
  copyPackage(app.directory, directory)
  if (app.role !== 'ssr') return createCopy({ ...app, directory }, root, [directory])
  copyPackage(SHARED, shared)
  rmSync(join(directory, 'node_modules/@startgrid/shared'))
  symlinkSync(shared, join(directory, 'node_modules/@startgrid/shared'))
  return createCopy({ ...app, directory }, root, [shared, directory], join(shared, 'src/page'))
}

function copyPackage(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !/\/(?:node_modules|dist)$/.test(path) })
  linkPackages(join(from, 'node_modules'), join(to, 'node_modules'))
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
  for (const packages of [ROOT, app.directory, SHARED])
    linkPackages(join(packages, 'node_modules'), join(directory, 'node_modules'))
  const pages = app.role === 'ssr' ? join(directory, 'src/page') : undefined
  const copy = createCopy({ ...app, directory }, root, [directory], pages)
  return {
    ...copy,
    // As the README of the project shows it.
    write({ file, code }) {
      const shown = code.replaceAll("'#shared/testing-before/", "'./suite/").replaceAll("'#shared/page/", "'#page/")
      copy.write({ file, code: shown })
    },
  }
}

/** One link per package, so that those of several folders are in one. */
function linkPackages(from: string, to: string): void {
  for (const name of globSync(['*', '@*/*'], { cwd: from })) {
    if (name === '.bin' || /^@[^/]*$/.test(name) || existsSync(join(to, name))) continue
    mkdirSync(dirname(join(to, name)), { recursive: true })
    symlinkSync(join(from, name), join(to, name))
  }
}

function createCopy(app: App, root: string, packages: readonly string[], pages?: string): Copy {
  const { directory } = app
  return {
    app,
    packages,
    pages,
    write: (snippet) => write(directory, snippet),
    read: (file) => readFileSync(join(directory, file), 'utf8'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

function write(directory: string, { file, code }: Snippet): void {
  mkdirSync(dirname(join(directory, file)), { recursive: true })
  writeFileSync(join(directory, file), code)
}

/** A path that has a GET in each role: a POST is put beside it. */
export const EXISTING: Readonly<Record<Role, string>> = { hello: '/json', ssr: '/', status: '/_/status' }

/** An image and a script. */
const PUBLIC: readonly Snippet[] = [
  { file: 'public/tea.svg', code: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>' },
  { file: 'public/tea.js', code: "document.documentElement.dataset.tea = 'yes'" },
]

/**
 * Puts a reader's routes beside those of the role: what add-a-route.md shows, and what the files in fixtures/ export:
 * `withReaderRoutes(existing, ...routes)` and `secondWeek`, in the framework's own form.
 * @param app the original; the copy of an ejected one has no fixtures
 */
export function addReaderRoutes(copy: Copy, app: App): void {
  const { role, directory } = copy.app
  const { files, diffs } = readSnippets(join(app.directory, 'add-a-route.md'))
  const kept = files.filter(({ code }) => copy.pages !== undefined || !code.includes('#shared/page/'))
  for (const snippet of [...kept, ...PUBLIC]) copy.write(snippet)
  for (const diff of diffs) change(directory, diff)
  for (const name of ['next-route', 'second-week']) {
    const code = readFileSync(join(app.directory, `fixtures/${name}.ts`), 'utf8')
    copy.write({ file: `src/${name}.ts`, code: code.replaceAll("'../src/", "'./") })
  }
  if (copy.pages !== undefined) addPage(copy.pages)
  renameSync(join(directory, `src/${role}.ts`), join(directory, 'src/own-routes.ts'))
  rmSync(join(directory, `test/${role}.test.ts`)) // of the own routes alone
  for (const file of ['conformance.test.ts', 'conformance.node.ts'])
    rmSync(join(directory, 'test', file), { force: true }) // it imports from where the original lies
  const names = kept.map(({ file }) => basename(file, '.ts'))
  const routes = names.filter((name, index) => kept[index]?.code.includes(`export const ${name}`))
  copy.write({
    file: `src/${role}.ts`,
    code: `import { ${role} as own } from './own-routes.ts'
import { withReaderRoutes } from './next-route.ts'
import { secondWeek } from './second-week.ts'
${routes.map((name) => `import { ${name} } from './${name}.ts'`).join('\n')}

export * from './own-routes.ts'
export const ${role} = withReaderRoutes('${EXISTING[role]}', own, secondWeek, ${routes.join(', ')})
`,
  })
}

/** The second page that page/README.md shows. */
function addPage(pages: string): void {
  const { files, diffs } = readSnippets(join(SHARED, 'src/page/README.md'))
  for (const snippet of files) write(pages, snippet)
  for (const diff of diffs) change(pages, diff)
}

function change(directory: string, { file, code }: Snippet): void {
  const text = readFileSync(join(directory, file), 'utf8')
  write(directory, { file, code: applyDiff(text, code.replaceAll('/srv', directory)) })
}

/**
 * Does what a diff says. A `+` line goes behind the line before it in the diff, or to the top of the file. Behind a `-` line it replaces that
 * text, which may be a part of a line.
 * @throws {Error} naming a text that the file does not have
 */
function applyDiff(text: string, diff: string): string {
  const lines = text.split('\n')
  let place = 0
  let replaced: string | undefined
  for (const line of diff.trimEnd().split('\n')) {
    const code = line.slice(1).trim()
    if (line.startsWith('+')) {
      if (replaced === undefined) lines.splice(place++, 0, code)
      else lines[place - 1] = (lines[place - 1] ?? '').replace(replaced, () => code)
      replaced = undefined
      continue
    }
    place = lines.findIndex((own) => own.includes(code)) + 1
    if (place === 0) throw new Error(`The file has no line with '${code}', which the diff names.`)
    if (line.startsWith('-')) replaced = code
  }
  return lines.join('\n')
}
