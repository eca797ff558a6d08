import { posix } from 'node:path'
import { ROLES, type Role } from '@startgrid/grid/frameworks.ts'
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

/** What is copied of an app. The folders in `static/` have the paths of a project, too. */
const FOLDERS = ['src/', 'test/', 'recipes/']

/** What is for pages, for all roles, or for this repository: a project tests its routes, and what is around them is tested here. */
const OF_PAGES = ['shared/page/', 'shared/testing/page.ts', 'recipes/second-page.']
const OF_ALL_ROLES = ['src/role.ts', 'test/app.test.ts', 'test/recipes.test.ts']

/** What not every app uses: a framework may have it, and only pages shed load. */
const MAYBE_USED =
  /^shared\/(?:page\/(?:assets|stream-\w+|shop\/back-end)|[\w-]+)\.ts$|^src\/(?:middleware\/load-shedding|polyfill)\.ts$/

/** What is in the recipe of a database beside its file. Bun has its own way, and njs none. */
const OF_POSTGRES = ['recipes/migrations/', 'recipes/compose.postgres.yaml']

/** They have the server of node:http, so its recipe of a WebSocket is theirs. */
const ON_NODE_HTTP = ['express', 'koa']

/** What finds and starts an NGINX of this machine, and the settings of a server, which NGINX cannot read. */
const STARTS_NGINX = ['src/server.ts', 'src/render.ts', 'test/start.ts', '.env.example']

/** Of frameworks that run on several runtimes. */
const OTHER_SERVERS = ['src/server.bun.ts', 'src/server.deno.ts']

/** Parts of nginx/conf: for an NGINX in front, and for one that is the app. */
const PROXY = ['http/', 'server/', 'start.sh']
const NOT_FOR_A_PROXY = ['assets', 'ceiling', 'page-app']
const SERVER = [
  'http/',
  ...['assets', 'connections', 'headers', 'limits', 'problem'].map((name) => `server/${name}.conf`),
]

/**
 * The files of a project by path, without its lockfile. It reads no file and runs no program.
 * @throws {Error} if `server.ts` lacks a text that a project has another one for
 */
export function makeProject({ commit, files }: Source, { app, name, options }: Choice): Map<string, string> {
  const { framework, role, runtime } = app
  const project = new Map<string, string>()
  /** Files of this repository, by the beginning of their path, to another one in the project. */
  const copy = (from: string, to: string, change = (text: string) => text) => {
    for (const [path, text] of Object.entries(files)) {
      const target = `${to}${path.slice(from.length).replace(/\.template$/, '')}`
      if (path.startsWith(from) && isNeeded(target, app)) project.set(target, change(text))
    }
  }
  const { catalog } = parse(files['pnpm-workspace.yaml'] ?? '') as { catalog: Record<string, string> }
  const label = toLabel(name)
  const command = commandOf(app, options)
  const isBun = runtime === 'bun'
  const values = {
    '{{name}}': name,
    '{{label}}': label,
    '{{app}}': app.name,
    '{{role}}': role,
    '{{runtime}}': runtime,
    '{{types}}': isBun ? 'bun' : 'node',
    '{{commit}}': commit,
    '{{image}}': isBun ? 'oven/bun:1-slim' : 'node:26-trixie-slim',
    '{{command}}': command.join(' '),
    '{{words}}': command.map((word) => `"${word}"`).join(', '),
    '{{front}}': ['00-http', 'keep-alive']
      .map((part) => files[`nginx/conf/templates/${part}.conf.template`] ?? '')
      .map((text) => flatten(replaceAll(text, IN_FRONT)).trimEnd())
      .join('\n\n')
      .replaceAll(/^(?=.)/gm, '    '),
  }
  const named = { ': web': `: ${label}`, '/web:': `/${label}:`, ...(runtime === 'nginx' && COMPONENT_NJS) }

  for (const folder of FOLDERS) copy(`apps/${framework}/${folder}`, folder)
  if (runtime === 'node') copy('apps/node/recipes/cluster.', 'recipes/cluster.')
  if (ON_NODE_HTTP.includes(framework)) copy('apps/node/recipes/chat.', 'recipes/chat.')
  copy('packages/shared/src/', 'shared/')
  copy('packages/shared/migrations/', 'recipes/migrations/')
  leaveOutUnused(project)
  copy('.editorconfig', '.editorconfig')
  for (const folder of ['service', framework, role, `${framework}-${role}`, ...options])
    copy(`packages/eject/static/${folder}/`, '', (text) => replaceAll(text, values))
  if (options.includes('nginx'))
    for (const part of PROXY) copy(`nginx/conf/${part}`, `nginx/${part}`, flatten)
  if (options.includes('kubernetes'))
    copy('deploy/kubernetes/app/', 'kubernetes/', (text) => replaceAll(text, named))
  if (runtime === 'nginx') {
    for (const part of SERVER) copy(`nginx/conf/${part}`, `conf/${part}`, flatten)
    const own = {
      ' The files of `startgrid/` are in nginx/conf.': '',
      'include hello.conf;': `include ${role}.conf;`,
    }
    copy('apps/njs/conf/', 'conf/', (text) => replaceAll(flatten(text), own))
    if (options.includes('kubernetes')) copy('deploy/kubernetes/components/njs/', 'kubernetes/njs/')
  } else startOneRole(project, role, options)
  const manifest = makeManifest({ files, project, app, name, catalog, command: values['{{command}}'] })
  return project.set('package.json', `${JSON.stringify(manifest, undefined, 2)}\n`)
}

/** Files that no other file of the project imports, and then those that only they imported. */
function leaveOutUnused(project: Map<string, string>): void {
  const imported = [...project].flatMap(([by, text]) =>
    [...text.matchAll(/'(#|\.\.?\/)([^']+)'/g)].map(([, start = '', path = '']) =>
      start === '#' ? path : posix.join(posix.dirname(by), start, path),
    ),
  )
  const unused = [...project.keys()].filter((path) => MAYBE_USED.test(path) && !imported.includes(path))
  for (const path of unused) project.delete(path)
  if (unused.length > 0) leaveOutUnused(project)
}

/** The only edits of code. @throws {Error} if a text is not there exactly once */
function startOneRole(project: Map<string, string>, role: Role, options: readonly Option[]): void {
  const edits = [["import { routes } from './role.ts'", `import { ${role} as routes } from './${role}.ts'`]]
  if (options.includes('telemetry')) {
    const line = 'const lifecycle = new Lifecycle(log)'
    edits.push([`'./${role}.ts'`, `'./${role}.ts'\nimport { stopTelemetry } from './telemetry.ts'`])
    edits.push([line, `${line}\nlifecycle.onClose(stopTelemetry)`])
  }
  project.set('src/server.ts', edits.reduce(replaceOnce, project.get('src/server.ts') ?? ''))
  for (const path of OTHER_SERVERS)
    if (project.has(path)) project.set(path, replaceOnce(project.get(path) ?? '', edits[0] ?? []))
}

/** What starts the server: words, because npm's shell would not pass on signals. */
function commandOf({ runtime }: App, options: readonly Option[]): string[] {
  if (runtime === 'nginx') return ['nginx', '-p', '.', '-c', 'conf/nginx.conf', '-e', 'stderr']
  const first = options.includes('telemetry') ? ['--import', './src/telemetry.ts'] : []
  return [runtime, ...first, 'src/server.ts']
}

/** The values of the templates in nginx/conf in front of a project. */
const IN_FRONT = {
  '${GRACEFUL_RELOAD}': 'keepalive_min_timeout 1s;',
  '${TRUSTED_PROXIES}': 'include /tmp/edge/trusted-proxies.conf;',
  '${NAME}': 'app',
  '${ZONE}': 'zone app 64k;',
  '${SERVERS}': 'server app:3000 resolve max_fails=0;',
  '${LISTEN}': '[::]:8080 ipv6only=off',
  '${TLS}': `listen [::]:8443 ipv6only=off ssl;
    http2 on;
    ssl_certificate "/tmp/edge/fullchain.pem";
    ssl_certificate_key "/tmp/edge/privkey.pem";
    include server/tls.conf;`,
  '${ACCESS_LOG}': '/dev/stdout json if=$logged',
  '    include startgrid/server/ceiling.conf;\n': '',
  '    ${ASSETS}\n\n': '',
}

/** What Kustomize needs to know of that container. */
const COMPONENT_NJS = { 'kind: Kustomization\n': 'kind: Kustomization\ncomponents: [njs]\n' }

/** Includes are relative to nginx.conf there. */
function flatten(text: string): string {
  return replaceAll(text, { 'include startgrid/': 'include ', 'log_format startgrid': 'log_format json' })
}

/** @param path in the project */
function isNeeded(path: string, { role, runtime }: App): boolean {
  const [stem = ''] = path.slice(path.lastIndexOf('/') + 1).split('.')
  const isInNginx = runtime === 'nginx'
  if (OF_POSTGRES.some((one) => path.startsWith(one))) return runtime === 'node'
  if (OF_PAGES.some((one) => path.startsWith(one)) && role !== 'ssr') return false
  if (path === 'shared/page/dev.ts') return !isInNginx
  if (path.startsWith('shared/page/')) return true
  if (path.startsWith('shared/')) return !isInNginx || (role === 'ssr' && path === 'shared/security.ts')
  if (path.startsWith('nginx/')) return !NOT_FOR_A_PROXY.includes(stem)
  if (isInNginx && STARTS_NGINX.includes(path)) return false
  const isOfAnotherRole = ROLES.some((one) => one !== role && one === stem)
  return !(OF_ALL_ROLES.includes(path) || isOfAnotherRole)
}

function replaceAll(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((replaced, [from, to]) => replaced.replaceAll(from, to), text)
}

function replaceOnce(text: string, [from = '', to = '']: readonly string[]): string {
  const parts = text.split(from)
  if (parts.length !== 2)
    throw new Error(`'${from}' is there ${parts.length - 1} times, not once, in:\n${text}`)
  return parts.join(to)
}

/** A DNS label (RFC 1123): 1 to 63 of `a-z0-9-`, without a hyphen at an end. `@acme/my_app` becomes `my-app`. */
function toLabel(name: string): string {
  const plain = name.replace(/^@[^/]+\//, '').replaceAll(/[^a-z0-9]+/g, '-')
  return plain.replace(/^-+/, '').slice(0, 63).replace(/-+$/, '') || 'app'
}
