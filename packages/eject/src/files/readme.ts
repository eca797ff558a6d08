import type { Project } from '../project.ts'

/** The README for a colleague on the first day: how to run, configure, deploy and change the service. */
export function readme(project: Project): string {
  const sections = [
    `# ${project.name}\n\n${project.description}.`,
    running(project),
    answers(project),
    settings(project),
    container(project),
    production(project),
    ...project.sections.map(({ title, text }) => `## ${title}\n\n${text.trim()}`),
    places(project),
  ]
  return `${sections.join('\n\n')}\n`
}

function block(lines: readonly string[]): string {
  return ['```sh', ...lines, '```'].join('\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const width = (column: number) => Math.max(3, ...[head, ...rows].map((cells) => cells[column]?.length ?? 0))
  const widths = head.map((_, column) => width(column))
  const line = (cells: readonly string[]) =>
    `| ${widths.map((size, column) => (cells[column] ?? '').padEnd(size)).join(' | ')} |`
  return [line(head), line(widths.map((size) => '-'.repeat(size))), ...rows.map(line)].join('\n')
}

function running(project: Project): string {
  const { runtime, nodeVersion, scripts } = project
  const isServer = runtime !== 'nginx'
  const requirement =
    runtime === 'nginx'
      ? `Node ${nodeVersion} or newer for the tools, and for \`npm start\` an NGINX with njs that has QuickJS: \`nginx\` and \`nginx-module-njs\` from
nginx.org. The njs of Debian 12 and 13 lacks that engine; the container below needs neither.`
      : runtime === 'bun'
        ? `Node ${nodeVersion} or newer with npm; Bun itself is one of the packages.`
        : `Node ${nodeVersion} or newer, which runs the TypeScript as it is.`
  return `## Run

${requirement}

${block([
  'npm install',
  ...(isServer && scripts.build !== undefined
    ? ['npm run build      # client files and the page, into dist/']
    : []),
  'npm start          # http://127.0.0.1:3000',
])}

${table(['command', 'what it does'], commands(project))}

pnpm works as well: \`pnpm install\`, \`pnpm start\`. Dockerfile and CI use npm: change them, too, if you change over. Once the
lockfile is committed, write \`npm ci\` for \`npm install\` there: it installs exactly what the lockfile lists.`
}

function commands({ runtime, role, scripts }: Project): string[][] {
  const reloads = role === 'ssr' && runtime !== 'nginx'
  const all = [
    [
      'dev',
      reloads
        ? 'starts it; the browser shows a change of the page at once, and a change of the server restarts it'
        : 'starts it, and again after every change',
    ],
    ['test', role === 'ssr' ? 'runs the tests, which need the build' : 'runs the tests'],
    ['typecheck', 'checks the types'],
    ['lint', 'checks the style; `npx biome check --write` also repairs'],
  ] as const
  return all
    .filter(([name]) => scripts[name] !== undefined)
    .map(([name, what]) => [`\`npm ${name === 'test' ? name : `run ${name}`}\``, what])
}

function answers({ routes }: Project): string {
  const rows = routes.map(({ method, path, answer }) => [`\`${method} ${path}\``, answer])
  return `## Routes

${table(['request', 'response'], rows)}

HEAD is GET without the body. Errors are JSON with the type \`application/problem+json\` ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)):

${block(['$ curl http://127.0.0.1:3000/no/such/path', '{"type":"about:blank","title":"Not Found","status":404}'])}`
}

function settings({ runtime, environment }: Project): string {
  const rows = environment.map(({ name, default: value, meaning }) => [
    `\`${name}\``,
    value === '' ? '' : `\`${value}\``,
    meaning,
  ])
  const how =
    runtime === 'nginx'
      ? 'NGINX cannot read its environment: these are written into `dist/nginx.conf` by `npm run build`, also when the image is built. All\nelse is in `nginx.conf.template`.'
      : 'The service reads them from the environment when it starts. A wrong value ends the start with a sentence and exit code 1.'
  return `## Settings

${how}

${table(['variable', 'default', 'meaning'], rows)}`
}

function container({ runtime }: Project): string {
  const more =
    runtime === 'nginx'
      ? 'The image alone (`docker build .`)\nwants a writable `/app/run`.'
      : 'Run the image alone (`docker build .`)\nwith `--init`, so that process 1 forwards signals and reaps.'
  return `## In a container

${block([
  'docker compose up --build --wait     # http://127.0.0.1:3000; PORT=8080 in front for another port',
  'docker compose logs --follow',
  'docker compose down',
])}

It runs without root, without capabilities and on a read-only file system, with at most 256 MB, and can be reached from this machine
only. It is healthy when \`/readyz\` responds with 200. ${more}`
}

function production(project: Project): string {
  const { runtime, role } = project
  const parts =
    runtime === 'nginx'
      ? [...NGINX_IN_PRODUCTION, ...(role === 'ssr' ? [NGINX_OVERLOAD] : [])]
      : serverInProduction(project)
  return `## In production

${[...parts, headers()].map((text) => `- ${text}`).join('\n')}`
}

function headers(): string {
  return `**Headers.** Every response has a content security policy, the other security headers of \`shared/http/security-headers.ts\`, and an
  \`x-request-id\`: the caller's, if it is harmless. A header that a route sets itself stays. What terminates TLS sends
  \`Strict-Transport-Security\`.`
}

function serverInProduction({ runtime, framework, environment }: Project): string[] {
  const slow =
    runtime === 'node'
      ? ` Headers that
  are not whole after 10 s, a request after 30, and a client that reads nothing for 30 are cut off; a look is taken every 5 s.`
      : ` Headers have
  10 s, a connection without traffic is closed after 65.`
  const clustered = environment.some(({ name }) => name === 'CLUSTER')
  return [
    `**Stopping.** On SIGTERM or SIGINT \`/readyz\` fails; after \`SHUTDOWN_DELAY_MS\`, for the load balancer to notice, no connection
  is accepted any more; requests in flight get their responses, with \`connection: close\`; exit code 0. A second signal, or
  \`SHUTDOWN_TIMEOUT_MS\`, ends it at once with 1. Docker kills after 10 s: with a delay, set \`stop_grace_period\` in
  \`compose.yaml\`.`,
    `**A database.** ${readiness(framework)} Checks run at most once per second, and have 1 s. A database that
  all replicas share takes all of them out of the load balancer when it fails: check only what makes every response impossible.`,
    `**Limits.** A body over 64 KiB is 413, headers over 16 KiB are 431.${slow}`,
    `**Handlers that never respond** are given up after \`HANDLER_TIMEOUT_MS\`: 503, or a cut connection, and a line in the log.`,
    ...(environment.some(({ name }) => name === 'MAX_QUEUE_WAIT_MS')
      ? [
          `**Overload.** While all requests have waited for longer than \`MAX_QUEUE_WAIT_MS\` for 100 ms, pages are refused with 503 and \`Retry-After\`, so
  that the others are still in time. Probes and client files are always served.`,
        ]
      : []),
    `**Logs.** JSON lines on standard output, one per response, except for \`/livez\` and \`/readyz\`, without the query. A
  failure is 500 for the client; the cause is logged with the request id.`,
    `**Behind a proxy.** \`X-Forwarded-For\` is believed only from the addresses in \`TRUST_PROXY\`. Idle connections are
  kept for 65 s, longer than NGINX keeps its own (60 s), so that none is closed under a request.`,
    ...(clustered
      ? [
          `**More cores.** One process uses one. \`CLUSTER=cluster\` runs one for each core and replaces those that end; several
  containers behind a load balancer do the same.`,
        ]
      : []),
  ]
}

function readiness(framework: string): string {
  return framework === 'fastify'
    ? "`app.health.addCheck('database', …)` adds a condition of `/readyz`; the hook `onClose` runs after the last response."
    : "In `src/app.ts`, `options.health.addCheck('database', …)` adds a condition of `/readyz`, and\n  `options.health.onClose(…)` runs after the last response."
}

const NGINX_OVERLOAD = `**Overload.** A page that would have waited for longer than \`$max_queue_wait_ms\` in \`nginx.conf.template\` is refused with 503 and
  \`Retry-After\`, so that the others are still in time. Files and \`/livez\` are always served.`

const NGINX_IN_PRODUCTION = [
  `**Stopping.** On SIGQUIT, which \`docker stop\` sends here, NGINX has 9 s for what is in flight, and exits with 0. \`npm start\`
  does so on SIGTERM. \`touch run/draining\` before that (\`docker compose exec app touch run/draining\`) makes \`/readyz\` fail, so
  that a load balancer turns away.`,
  `**Limits.** A body over 64 KiB is 413, headers over 16 KiB are 431. A client that takes more than 10 s for its
  headers, or between two parts of a body, is cut off.`,
  `**Logs.** \`logs/access.log\`, in the container standard output, has a JSON line per response, except for \`/livez\`
  and \`/readyz\`. Failures of handlers are in the error log on standard error, with the stack.`,
  `**Behind a proxy.** Whom to believe about the client's address: \`set_real_ip_from\` and \`real_ip_header X-Forwarded-For\` in
  \`nginx.conf.template\`.`,
  `**More cores.** \`worker_processes\` in \`nginx.conf.template\`.`,
]

function places({ runtime, role }: Project): string {
  const hasPage = role === 'ssr'
  const rows = [
    [`\`src/${role}.ts\``, 'the routes: add yours here'],
    ['`src/app.ts`', 'what a request meets before and after them, concern by concern'],
    ...(runtime === 'nginx'
      ? [
          ['`nginx.conf.template`', 'everything that NGINX does itself: limits, headers, logs'],
          ['`bundle.ts`, `start.ts`', 'what `npm run build` and `npm start` do'],
        ]
      : [['`src/server.ts`', 'the process: listening and closing']]),
    ...(hasPage
      ? [
          ['`shared/page/`', 'the page in React, its styles and what runs in the browser'],
          ['`shared/page/vite.config.ts`', 'how `dist/` is made of it, and its list of pages'],
        ]
      : []),
    [
      '`shared/http/contract.ts`',
      runtime === 'nginx' ? 'values of responses, such as media types' : 'media types, limits, parameters',
    ],
    [
      '`test/`',
      runtime === 'nginx' ? 'handlers without NGINX, then all in one' : 'the routes, with and without a port',
    ],
  ]
  return `## Where to change what

${table(['file', 'content'], rows)}`
}
