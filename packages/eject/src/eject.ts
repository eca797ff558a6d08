import type { App } from '@startgrid/grid/matrix.ts'
import { readCatalog } from './catalog.ts'
import { writeCode } from './code/code.ts'
import { describe } from './describe.ts'
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
import { stage, writeFiles } from './staging.ts'
import { writeTypeCheck } from './type-check.ts'
import { readTracked, readWorkspaceFile } from './workspace.ts'

export interface EjectOptions {
  app: App
  /** From `resolveTarget`. */
  target: string
  /** An npm name. */
  name: string
  /** Whether to create a git repository. */
  git: boolean
  /** Aborts, and removes everything that was written. */
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
 * @throws {EjectError} for errors that the person can fix, `AbortError` if aborted; after any error nothing is left behind
 */
export async function eject({ app, target, name, git, signal }: EjectOptions): Promise<Ejected> {
  const isNjs = app.runtime === 'nginx'
  const tracked = new Map<string, string>()
  for (const directory of [
    `apps/${app.framework}`,
    'packages/shared/src',
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
async function writeProject(project: Project, code: Code): Promise<Map<string, string>> {
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
