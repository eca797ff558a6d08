import { renderTls } from '@startgrid/nginx/render.ts'
import { NGINX_VERSION } from '../describe.ts'
import type { Option } from './option.ts'

const CONF = 'nginx/conf'

/** Files of `nginx/conf` that a proxy needs; the others are for the page, for the assets of the repository and for studies. */
const PARTS = [
  'http/forwarded.conf',
  'http/hsts.conf',
  'http/limits.conf',
  'http/log-format.conf',
  'http/logged.conf',
  'http/problem.conf',
  'http/request-id.conf',
  'http/websocket.conf',
  'server/connections.conf',
  'server/headers.conf',
  'server/keep-alive.conf',
  'server/limits.conf',
  'server/microcache.conf',
  'server/problem.conf',
  'server/proxy.conf',
  'server/tls.conf',
  'start.sh',
]

const COMPRESSION = 'server/compression.conf'

const FORWARD = /^include startgrid\/server\/forward\.conf;\n/m

const MAIN = `# NGINX in front of {{label}}. compose.override.yaml mounts this directory at /etc/nginx.

worker_processes auto;
pid /tmp/nginx.pid;
error_log stderr warn;

events {
    # A request has two connections: one to the client and one to the app.
    worker_connections 4096;
}

http {
    client_body_temp_path /tmp/client_body;
    proxy_temp_path       /tmp/proxy;
    fastcgi_temp_path     /tmp/fastcgi;
    uwsgi_temp_path       /tmp/uwsgi;
    scgi_temp_path        /tmp/scgi;

    # Docker's name server. A restarted app has a new address at once.
    resolver 127.0.0.11 valid=1s ipv6=off;
    resolver_timeout 2s;

`

/** What `start.sh` writes. */
const CERTIFICATE = { certificate: '/tmp/edge/fullchain.pem', key: '/tmp/edge/privkey.pem' }

const COMPOSE = `# Docker Compose adds this file to compose.yaml: NGINX in front of the app.
services:
  app:
    environment:
      # NGINX is on the network of this project, whose addresses Docker takes from these ranges.
      TRUST_PROXY: \${TRUST_PROXY:-10.0.0.0/8,172.16.0.0/12,192.168.0.0/16}
  nginx:
    image: nginx:${NGINX_VERSION}
    # Instead of the image's own entrypoint, which edits the configuration.
    entrypoint: [sh, /etc/nginx/start.sh, nginx, -e, stderr, -g, "daemon off;"]
    command: []
    environment: [TRUSTED_PROXIES]
    user: nginx
    restart: on-failure
    read_only: true
    tmpfs: [/tmp]
    volumes: ["./nginx:/etc/nginx:ro"]
    cap_drop: [ALL]
    security_opt: [no-new-privileges:true]
    pids_limit: 64
    mem_limit: 128m
    # Otherwise the log would fill the disk.
    logging:
      driver: json-file
      options: { max-size: 10m, max-file: "3" }
    stop_signal: SIGQUIT
    depends_on:
      app: { condition: service_healthy }
    # For this machine only.
    ports: ["127.0.0.1:\${NGINX_PORT:-8080}:8080", "127.0.0.1:\${NGINX_TLS_PORT:-8443}:8443"]
`

export const nginx: Option = {
  name: 'nginx',
  title: 'NGINX in front',
  describe({ runtime, role }, read) {
    if (runtime === 'nginx') return 'It runs inside NGINX already, so it needs no other one in front.'
    const hasPage = role === 'ssr'
    const parts = [...PARTS, ...(hasPage ? [COMPRESSION] : [])].map((path) => {
      // With one way to reach the app, a file for what all ways have in common is only one more to open.
      const text = read(`${CONF}/${path}`).replace(FORWARD, () => read(`${CONF}/server/forward.conf`))
      return [`nginx/${path}`, flatten(text)] as const
    })
    return {
      files: {
        ...Object.fromEntries(parts),
        // Keys do not belong into a repository.
        'nginx/tls/.gitignore': '*\n!.gitignore\n',
        'nginx/nginx.conf': writeMain(read, hasPage),
        'compose.override.yaml': COMPOSE,
      },
      readme: readme(hasPage),
    }
  },
}

const readme = (
  hasPage: boolean,
) => `\`docker compose up --build --wait\` also starts NGINX, at https://localhost:8443 and http://localhost:8080 (\`NGINX_TLS_PORT=443
NGINX_PORT=80\` in front for other ports). It speaks TLS 1.2 and 1.3 with HTTP/2, keeps connections to the app open, ${hasPage ? 'compresses pages, ' : ''}limits
headers and bodies, and logs a JSON line per response. Event streams and WebSockets pass on any path. \`nginx/\` has one concern per file. All this needs NGINX 1.27.4
(\`keepalive_min_timeout\`). For updates of its image, add the ecosystem \`docker-compose\` to \`.github/dependabot.yml\`.

At each start, NGINX makes a certificate for localhost, which browsers warn of. With a domain, put yours in
\`nginx/tls/\`, readable for the user 101, and remove \`127.0.0.1:\` from \`ports\`. This \`--deploy-hook\` of certbot does it after each renewal:

\`\`\`sh
cd /srv/{{label}} &&
  install -o 101 -m 400 "$RENEWED_LINEAGE/fullchain.pem" "$RENEWED_LINEAGE/privkey.pem" nginx/tls &&
  docker compose kill --signal HUP nginx
\`\`\`

Then the lines in \`nginx/server/tls.conf\` and \`nginx/http/hsts.conf\` send browsers to TLS for good.

A route with larger bodies needs a location with one line more. A location that sets a proxy header or adds a header inherits none, so it repeats them:

\`\`\`nginx
location = /uploads {
    client_max_body_size 2m;
    include server/keep-alive.conf; # only with a proxy_set_header of its own
    add_header strict-transport-security $hsts always;
    proxy_pass http://app;
}
\`\`\`

For responses that are the same for everybody, \`nginx/server/microcache.conf\` is a cache for a second. It is off, and says how to use it.

Behind another proxy, \`TRUSTED_PROXIES=10.0.0.0/8\` keeps what it says in \`X-Forwarded-*\`. Without it, NGINX overwrites these headers, because a client could forge them.`

function writeMain(read: (path: string) => string, hasPage: boolean): string {
  const values: Readonly<Record<string, string>> = {
    NAME: 'app',
    ZONE: 'zone app 64k;',
    SERVERS: 'server app:3000 resolve max_fails=0;',
    LISTEN: '8080',
    TLS: ['listen 8443 ssl;', renderTls(CERTIFICATE).lines].join('\n    '),
    TRUSTED_PROXIES: 'include /tmp/edge/trusted-proxies.conf;',
    ACCESS_LOG: '/dev/stdout json if=$logged',
  }
  const fill = (template: string) =>
    read(`${CONF}/templates/${template}.conf.template`)
      .replace(/^#.*\n\n?/, '')
      .replace(/^ *include startgrid\/server\/ceiling\.conf;\n/m, '')
      .replace(/^ *set \$assets_dir .*\n.*\n\n/m, '')
      .replace(/\$\{([A-Z_]+)\}/g, (_placeholder, name: string) => values[name] ?? missing(name))
  const server = fill('keep-alive')
  // Only a page is streamed, and large enough to be compressed.
  const ofPages = [
    / {4}# Pass on each chunk[^}]*}\n\n/,
    / {4}include startgrid\/server\/compression\.conf;\n/,
  ]
  const kept = hasPage ? server : ofPages.reduce((text, one) => text.replace(one, ''), server)
  const parts = [fill('00-http'), graceful(read), kept]
  return `${MAIN}${indent(flatten(parts.join('\n')))}}\n`
}

/** Includes are relative to nginx.conf there. */
function flatten(text: string): string {
  return text
    .replaceAll('include startgrid/', 'include ')
    .replaceAll('log_format startgrid', 'log_format json')
}

function graceful(read: (path: string) => string): string {
  return read(`${CONF}/graceful-reload.conf`)
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ')
}

function missing(name: string): never {
  throw new Error(`The template of NGINX has no value for ${name}.`)
}
