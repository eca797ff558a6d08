import { insteadOf } from '@startgrid/cli/gone.ts'
import { EjectError } from './eject-error.ts'
import { ci, dependabot } from './files/ci.ts'
import { compose } from './files/compose.ts'
import { dockerfile } from './files/dockerfile.ts'
import { dockerignore } from './files/dockerignore.ts'
import { gitignore } from './files/gitignore.ts'
import { readme } from './files/readme.ts'
import { writePnpmSettings } from './install-scripts.ts'
import { toJson, writeManifest } from './manifest.ts'
import type { Project, SourceOption, SourceProject } from './project.ts'
import { refuseNameOfDependency } from './project-name.ts'

/** Everything that is needed to make the project of one app. It is plain JSON, so it can be stored and shipped without this repository. */
export interface AppSource {
  /** `fastify/ssr` */
  app: string
  /** The URL of this repository, if its clone has one. */
  repository?: string
  /** The commit of this repository, with `-dirty` behind it if files have changed since. */
  commit: string
  project: SourceProject
  /** The code and the configuration by path, formatted. `{{name}}` stands for the npm name of the project. */
  files: Readonly<Record<string, string>>
  /** All options by name. */
  options: Readonly<Record<string, SourceOption>>
}

export interface Choices {
  /** An npm name. */
  name: string
  /** Names of options, such as `telemetry`, in any order. */
  options: readonly string[]
  /** Whether the project gets a package-lock.json. */
  lockfile: boolean
}

/**
 * The files of a project by path, without its lockfile. It reads no file and runs no program, so equal arguments give equal bytes everywhere.
 * @throws {EjectError} for an option that the app cannot have, or for the name of a package that the project needs
 */
export function ejectTree(source: AppSource, { name, options, lockfile }: Choices): Map<string, string> {
  const chosen = chooseOptions(source, options)
  const project = { ...combine(source.project, name, chosen), lockfile }
  refuseNameOfDependency(name, { ...project.dependencies, ...project.devDependencies })
  const pnpmSettings = writePnpmSettings(project)
  const files = new Map([
    ...Object.entries(source.files),
    ['package.json', writeManifest(project)],
    ...(pnpmSettings === undefined ? [] : [['pnpm-workspace.yaml', pnpmSettings] as const]),
    ['Dockerfile', dockerfile(project)],
    ['.dockerignore', dockerignore(project)],
    ['compose.yaml', compose(project)],
    ['.github/workflows/ci.yml', ci(project)],
    ['.github/dependabot.yml', dependabot()],
    ['.gitignore', gitignore(project)],
    ['README.md', readme(project)],
    ['.startgrid.json', writeOrigin(source, chosen)],
  ])
  for (const { name: option, files: added } of chosen) {
    for (const [path, text] of Object.entries(added)) {
      if (files.has(path))
        throw new Error(`The option '${option}' adds ${path}, which the project has already.`)
      files.set(path, text)
    }
  }
  return new Map([...files].map(([path, text]) => [path, fillIn(text, name)]))
}

/** Where the project is from, so that a person can see later what has changed there. */
function writeOrigin({ app, repository, commit }: AppSource, chosen: readonly { name: string }[]): string {
  const options = chosen.map(({ name }) => name)
  const text = toJson({
    app,
    ...(repository && { repository }),
    commit,
    ...(options.length > 0 ? { with: options } : {}),
  })
  // The formatter of the project keeps a short list on one line.
  return text.replace(/\[\s+([^\]]*?)\s+\]/, (_list, items: string) => `[${items.replaceAll(/\s+/g, ' ')}]`)
}

type Chosen = Exclude<SourceOption, { refused: string }> & { name: string }

/** The chosen options, in the order of the list of all. @throws {EjectError} */
function chooseOptions({ app, options }: AppSource, names: readonly string[]): Chosen[] {
  for (const name of names) {
    if (name in options) continue
    const known = Object.keys(options).join(', ')
    throw new EjectError(
      insteadOf(`--with ${name}`) ?? `There is no option '${name}'. The options are: ${known}.`,
    )
  }
  return Object.entries(options).flatMap(([name, option]) => {
    if (!names.includes(name)) return []
    if ('refused' in option) throw new EjectError(`${app} cannot have '${name}'. ${option.refused}`)
    return [{ ...option, name }]
  })
}

/** The project with the chosen options. */
function combine(project: SourceProject, name: string, chosen: readonly Chosen[]): Omit<Project, 'lockfile'> {
  const merge = (own: Readonly<Record<string, string>>, added: readonly Readonly<Record<string, string>>[]) =>
    Object.fromEntries(Object.entries(Object.assign({}, own, ...added)).sort(byName)) as Record<
      string,
      string
    >
  const dependencies = merge(
    project.dependencies,
    chosen.map((one) => one.dependencies),
  )
  return {
    ...project,
    name,
    dependencies,
    devDependencies: Object.fromEntries(
      Object.entries(project.devDependencies).filter(([one]) => !(one in dependencies)),
    ),
    arguments: chosen.flatMap((one) => one.arguments),
    environment: [...project.environment, ...chosen.flatMap((one) => one.environment)],
    sections: chosen.map(({ title, readme: text }) => ({ title, text })),
  }
}

function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1
}

function fillIn(text: string, name: string): string {
  return text.replaceAll('{{name}}', name).replaceAll('{{label}}', toLabel(name))
}

/** A DNS label (RFC 1123): 1 to 63 of `a-z0-9-`, without a hyphen at an end. `@acme/my_app` becomes `my-app`. */
function toLabel(name: string): string {
  const plain = name.replace(/^@[^/]+\//, '').replaceAll(/[^a-z0-9]+/g, '-')
  return plain.replace(/^-+/, '').slice(0, 63).replace(/-+$/, '') || 'app'
}
