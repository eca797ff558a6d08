import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { APPS, type App, type Role } from '@startgrid/grid/apps.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { type Catalog, readCatalog, resolveVersions } from './catalog.ts'
import { writeCode } from './code/code.ts'
import { writeLint, writeTypeCheck } from './configuration.ts'
import { describe } from './describe.ts'
import { type AppSource, ejectTree } from './eject-tree.ts'
import { OWN_ENV, PRODUCTION, productionEnv, REQUIRE_NODE, requireNode } from './files/start.ts'
import { writeNjsCode } from './njs/index.ts'
import { OPTIONS } from './options/index.ts'
import type { Addition } from './options/option.ts'
import type { AppEntry } from './picker.ts'
import type { SourceOption } from './project.ts'
import { readParticular, readRecipes } from './recipes.ts'
import { run } from './run.ts'
import { writeFiles } from './staging.ts'
import { readCommit, readRepository, readTracked, readWorkspaceFile, requireTracked } from './workspace.ts'

const BIOME = fileURLToPath(new URL('../../../node_modules/.bin/biome', import.meta.url))

/**
 * Reads what this repository has for one app, and formats it.
 * @param signal aborts
 * @throws {EjectError} if this is not a git clone, `RunError` if the linter finds a problem
 */
export async function readSource(app: App, signal: AbortSignal): Promise<AppSource> {
  const isNjs = app.runtime === 'nginx'
  const tracked = await readTracked([
    `apps/${app.framework}`,
    'packages/shared/src',
    'nginx/conf',
    'deploy',
    'packages/eject/src/options/templates',
  ])
  await requireTracked(`apps/${app.framework}`)
  const code = isNjs ? writeNjsCode(app, tracked) : writeCode(app, tracked)
  const catalog = await readCatalog()
  const source: AppSource = {
    app: app.name,
    ...(await readRepository()),
    commit: await readCommit(),
    project: {
      ...describe(app, code, catalog, readRecipes(app, tracked)),
      particular: readParticular(app, tracked),
    },
    files: {
      ...Object.fromEntries(code.files),
      'tsconfig.json': await writeTypeCheck(code),
      'biome.json': await writeLint(),
      '.editorconfig': await readWorkspaceFile('.editorconfig'),
      '.env': OWN_ENV,
      ...(app.runtime === 'bun' ? {} : { [REQUIRE_NODE]: requireNode() }),
      ...(isNjs ? {} : { [PRODUCTION]: productionEnv() }),
    },
    options: describeOptions(app, tracked, catalog),
  }
  return formatSource(source, signal)
}

/** What a picker says of a role. */
const ROLE_TITLES: Readonly<Record<Role, string>> = {
  hello: 'text and JSON: where an API begins',
  ssr: 'a React page, rendered on the server, with hot reload',
  status: 'one route that says OK: the least there is',
}

/** The apps of this repository, as a person picks them. */
export function listApps(): AppEntry[] {
  return APPS.map(({ name, framework, role }) => {
    const frameworkTitle = CATALOGUE.find((entry) => entry.name === framework)?.title ?? framework
    return { name, framework, frameworkTitle, role, roleTitle: ROLE_TITLES[role] }
  })
}

function describeOptions(
  app: App,
  tracked: ReadonlyMap<string, string>,
  catalog: Catalog,
): Record<string, SourceOption> {
  const read = (path: string): string => {
    const text = tracked.get(path)
    if (text === undefined) throw new Error(`git does not list ${path}, or eject does not read its folder.`)
    return text
  }
  return Object.fromEntries(
    OPTIONS.map(({ name, title, describe: ask }) => {
      const addition = ask(app, read)
      return [name, typeof addition === 'string' ? { refused: addition } : resolve(title, addition, catalog)]
    }),
  )
}

function resolve(title: string, addition: Addition, catalog: Catalog): SourceOption {
  const { dependencies = [], environment = [] } = addition
  return {
    ...addition,
    title,
    arguments: addition.arguments ?? [],
    environment,
    dependencies: resolveVersions(dependencies, catalog),
  }
}

/**
 * Formats the code of an app and of all its options, and sorts their imports, with the configuration of the project. What `ejectTree` writes
 * itself must be formatted already, because it has no formatter.
 */
async function formatSource(source: AppSource, signal: AbortSignal): Promise<AppSource> {
  const directory = await mkdtemp(join(tmpdir(), 'eject-'))
  const available = Object.keys(source.options).filter((name) => !('refused' in (source.options[name] ?? {})))
  const written = ejectTree(source, { name: 'my-app', options: available, lockfile: true })
  try {
    const own = { ...source.files, ...listAdded(source) }
    const plain = Object.entries(own).map(([path, text]) => [path, hidePlaceholders(text)] as const)
    await writeFiles(directory, new Map([...written, ...plain]))
    await format(directory, signal)
    const read = (path: string) => readFile(join(directory, path), 'utf8')
    for (const [path, text] of written) {
      if (!(path in own) && (await read(path)) !== text)
        throw new Error(`The linter would change ${path}: write it as the linter does.`)
    }
    const readAll = async (files: Readonly<Record<string, string>>) =>
      Object.fromEntries(
        await Promise.all(
          Object.keys(files).map(async (path) => [path, showPlaceholders(await read(path))] as const),
        ),
      )
    const options: Record<string, SourceOption> = {}
    for (const [name, option] of Object.entries(source.options))
      options[name] = 'refused' in option ? option : { ...option, files: await readAll(option.files) }
    return { ...source, files: await readAll(source.files), options }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/**
 * Formats a project and sorts its imports with the project's own configuration.
 * @throws {RunError} if the linter finds a problem, because then the project is not usable
 */
async function format(directory: string, signal: AbortSignal): Promise<void> {
  await run(BIOME, ['check', '--write', '--error-on-warnings', '--colors=off'], { cwd: directory, signal })
}

/** YAML takes `{{label}}` for a mapping, and would not keep it. */
function hidePlaceholders(text: string): string {
  return text.replaceAll(/\{\{(name|label)\}\}/g, 'placeholder-$1-placeholder')
}

function showPlaceholders(text: string): string {
  return text.replaceAll(/placeholder-(name|label)-placeholder/g, '{{$1}}')
}

function listAdded({ options }: AppSource): Record<string, string> {
  return Object.assign({}, ...Object.values(options).map((one) => ('refused' in one ? {} : one.files)))
}
