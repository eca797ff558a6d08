import { markdownWords } from '@startgrid/cli/table.ts'
import type { Project } from '../project.ts'
import { MEMORY } from './compose.ts'
import { OLDEST_NODE } from './start.ts'

/** The README for a colleague in the first two weeks: how to run, change and deploy the service. */
export function readme(project: Project): string {
  const sections = [
    `# ${project.name}\n\n${project.description}.`,
    running(project),
    places(project),
    routes(project),
    settings(project),
    deploy(project),
    `## Add a route\n\n${project.recipes}`,
    ...(project.particular === '' ? [] : [project.particular]),
    ...project.sections.map(({ title, text }) => `## ${title}\n\n${text.trim()}`),
    ORIGIN,
  ]
  return `${sections.join('\n\n')}\n`
}

function block(lines: readonly string[], language = 'sh'): string {
  return [`\`\`\`${language}`, ...lines, '```'].join('\n')
}

function running({ runtime, role, hasBuild, lockfile }: Project): string {
  const isServer = runtime !== 'nginx'
  const requirement =
    runtime === 'nginx'
      ? `Node ${OLDEST_NODE} or newer for the tools, and an NGINX with njs on QuickJS for \`npm start\` and \`npm run dev\`: \`nginx\` and
\`nginx-module-njs\` from nginx.org. The container needs neither.`
      : runtime === 'bun'
        ? `Node ${OLDEST_NODE} or newer with npm. Bun itself is one of the packages.`
        : `Node ${OLDEST_NODE} or newer, which runs TypeScript as it is.`
  const reloads =
    role === 'ssr' && isServer
      ? 'the page changes in the browser and keeps its state, the server restarts'
      : 'restarts after every change'
  return `## Run

${requirement} pnpm works as well.

${block([
  lockfile ? 'npm ci                # installs what the lockfile lists' : 'npm install',
  `npm run dev           # http://127.0.0.1:3000; ${reloads}`,
  ...(hasBuild && isServer ? ['npm run build         # the page, into dist/; needed by test and start'] : []),
  'npm test',
  'npm start             # production',
  `npm run typecheck     # and \`npm run lint\`; \`npx biome check --write\` repairs`,
])}`
}

function places({ runtime, role, hasBuild }: Project): string {
  const rows = [
    [`\`src/${role}.ts\``, 'yours: the routes'],
    ['`src/app.ts`', 'yours: what a request meets before and after them; one concern per file'],
    ...(runtime === 'nginx' ? [['`nginx.conf.template`', 'yours: what NGINX does itself']] : []),
    ...(hasBuild ? [['`src/page/`', 'yours: the page in React, and how Vite builds it']] : []),
    ['`shared/http/`', 'leave alone: limits, malformed requests, problem details, headers, health'],
    ...(runtime === 'nginx'
      ? []
      : [['`shared/process/`', 'leave alone: settings, log, start and stop, which `src/server.ts` calls']]),
  ]
  return `## Change

${markdownWords(['file', 'whose'], rows)}`
}

function routes({ routes }: Project): string {
  return `## Routes

${markdownWords(
  ['request', 'response'],
  routes.map(({ method, path, response }) => [`\`${method} ${path}\``, response]),
)}`
}

function settings({ runtime, environment }: Project): string {
  const rows = environment.map(({ name, default: value, meaning }) => [
    `\`${name}\``,
    value === '' ? '' : `\`${value}\``,
    meaning,
  ])
  const how =
    runtime === 'nginx'
      ? 'From the environment or `.env`; `npm run build` writes them into `dist/nginx.conf`.'
      : 'From the environment or `.env`. A wrong value ends the start with a sentence.'
  return `## Settings

${how}

${markdownWords(['variable', 'default', 'meaning'], rows)}`
}

function deploy(project: Project): string {
  const { runtime, role, hasBuild } = project
  const memory = MEMORY[runtime][hasBuild ? 'page' : 'other']
  const parts = runtime === 'nginx' ? listNginxManners(role === 'ssr') : listServerManners(project)
  return `## Deploy

${block(['docker compose up --build --wait   # http://127.0.0.1:3000; docker compose logs --follow'])}

The image runs without root and on a read-only file system, with at most ${memory.replace('m', ' MB')}. Run one container per core behind a proxy that
terminates TLS and sends \`Strict-Transport-Security\`.

${parts.map((text) => `- ${text}`).join('\n')}`
}

function listServerManners({ environment, health, runtime }: Project): string[] {
  const sheds = environment.some(({ name }) => name === 'MAX_QUEUE_WAIT_MS') && runtime !== 'nginx'
  return [
    `**Stopping.** After SIGTERM \`/readyz\` fails. After \`SHUTDOWN_DELAY_MS\` no connection is accepted, requests in flight get their responses, and the
  exit code is 0. A second signal or \`SHUTDOWN_TIMEOUT_MS\` ends it at once with 1. Docker kills after 10 s: see \`stop_grace_period\`. Without
  a container, run the command of \`npm start\` itself: the shell that npm starts does not pass on signals.`,
    `**Event streams and WebSockets** never end by themselves: end them when \`${health}.signal\` aborts, at the start of stopping.
  A stream that is left holds up the stop until \`SHUTDOWN_TIMEOUT_MS\`; a WebSocket is cut after 2 s.`,
    `**A database.** In \`src/app.ts\`, \`options.health.addCheck('database', …)\` adds a condition of \`/readyz\`, and \`options.health.onClose(…)\` runs
  after the last response. Checks run at most once per second, and have 1 s. When a database that all replicas share fails, all of
  them leave the load balancer: check only what makes every response impossible.`,
    `**Errors** are \`application/problem+json\` (RFC 9457). A body over 64 KiB is 413, headers over 16 KiB are 431, a silent handler is 503.`,
    ...(sheds
      ? [
          '**Overload.** Pages that waited for longer than `MAX_QUEUE_WAIT_MS` are 503, so that the others are in time.',
        ]
      : []),
    `**Log.** A JSON line per response on standard output, without the query. The cause of a 500 is only there. Lines wait for up to 0.5 s or 64 KiB;
  only SIGKILL and a crash of the runtime lose them.`,
    '**Proxy.** Scheme, host and client come from `X-Forwarded-*` only if `TRUST_PROXY` names the peer. The outermost proxy must overwrite all three. Idle connections stay open for 65 s, longer than NGINX uses them.',
  ]
}

function listNginxManners(sheds: boolean): string[] {
  return [
    `**Stopping.** After SIGQUIT, which \`docker stop\` sends, NGINX has 9 s for what is in flight. \`npm start\` does so after SIGTERM.
  \`touch run/draining\` makes \`/readyz\` fail before that.`,
    `**Errors** are \`application/problem+json\` (RFC 9457). A body over 64 KiB is 413, headers over 16 KiB are 431, a client that is silent
  for 10 s is cut off.`,
    ...(sheds ? ['**Overload.** Pages that would wait for longer than `$max_queue_wait_ms` are 503.'] : []),
    '**Log.** `logs/access.log`, in the container standard output, has a JSON line per response. Failures are on standard error.',
    '**Proxy.** `set_real_ip_from` and `real_ip_header` in `nginx.conf.template` say whose `X-Forwarded-For` counts. The same addresses in `geo` there\n  give routes `$client_scheme` and `$client_host`.',
  ]
}

const ORIGIN = `## Where it is from

\`.startgrid.json\` has the app and the commit of Startgrid that it was copied from. To see what changed since, eject both commits and compare:
\`git diff --no-index old new\`. The code is under 0BSD: use it as your own, without a notice.`
