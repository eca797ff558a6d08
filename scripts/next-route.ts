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

/** A file that the add-a-route.md of a framework shows. */
export interface Snippet {
  /** Its path in the app, such as `src/events.ts`. */
  file: string
  code: string
}

/**
 * What apps/FRAMEWORK/add-a-route.md shows: whole files, and changes of a file of the app.
 * @throws {Error} if there are none
 */
export function readSnippets({ directory }: App): { files: Snippet[]; diffs: Snippet[] } {
  const markdown = readFileSync(join(directory, 'add-a-route.md'), 'utf8')
  const read = (language: string) =>
    [...markdown.matchAll(new RegExp(`^\`\`\`${language} title="([^"]+)"\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
      ([, file = '', code = '']) => ({ file, code }),
    )
  const snippets = { files: read('[jt]s'), diffs: read('diff') }
  if (snippets.files.length === 0) throw new Error(`${directory}/add-a-route.md has no code with a title.`)
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
    write: ({ file, code }) => {
      mkdirSync(dirname(join(directory, file)), { recursive: true })
      writeFileSync(join(directory, file), code)
    },
    read: (file) => readFileSync(join(directory, file), 'utf8'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
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
  const { files, diffs } = readSnippets(app)
  for (const snippet of [...files, ...PUBLIC]) copy.write(snippet)
  for (const { file, code } of diffs)
    copy.write({ file, code: applyDiff(copy.read(file), code.replaceAll('/srv', directory)) })
  for (const name of ['next-route', 'second-week']) {
    const code = readFileSync(join(app.directory, `fixtures/${name}.ts`), 'utf8')
    copy.write({ file: `src/${name}.ts`, code: code.replaceAll("'../src/", "'./") })
  }
  renameSync(join(directory, `src/${role}.ts`), join(directory, 'src/own-routes.ts'))
  rmSync(join(directory, `test/${role}.test.ts`)) // of the own routes alone
  const routes = files
    .filter(({ code, file }) => code.includes(`export const ${nameOf(file)}`))
    .map(({ file }) => file)
  copy.write({
    file: `src/${role}.ts`,
    code: `import { ${role} as own } from './own-routes.ts'
import { withReaderRoutes } from './next-route.ts'
import { secondWeek } from './second-week.ts'
${routes.map((file) => `import { ${nameOf(file)} } from './${basename(file)}'`).join('\n')}

export * from './own-routes.ts'
export const ${role} = withReaderRoutes('${EXISTING[role]}', own, secondWeek, ${routes.map(nameOf).join(', ')})
`,
  })
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

function nameOf(file: string): string {
  return basename(file, '.ts')
}
