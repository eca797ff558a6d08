import { NGINX_VERSION } from '../describe.ts'
import type { Option } from './option.ts'

const CONF = 'nginx/conf'

/** Files of `nginx/conf` that a proxy needs; the others are for the page, for the assets of the repository and for studies. */
const PARTS = [
  'http/forwarded.conf',
  'http/header-limit.conf',
  'http/hsts.conf',
  'http/log-format.conf',
  'http/logged.conf',
  'http/malformed.conf',
  'http/method.conf',
  'http/problem.conf',
  'http/request-id.conf',
  'server/compression.conf',
  'server/connections.conf',
  'server/headers.conf',
  'server/keep-alive.conf',
  'server/limits.conf',
  'server/problem.conf',
  'server/proxy.conf',
]

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

    include http/*.conf;
    include keepalive-reload.conf;

`

const COMPOSE = `# Docker Compose adds this file to compose.yaml: NGINX in front of the app.
services:
  app:
    environment:
      # NGINX is on the network of this project, whose addresses Docker takes from these ranges.
      TRUST_PROXY: \${TRUST_PROXY:-10.0.0.0/8,172.16.0.0/12,192.168.0.0/16}
  nginx:
    image: nginx:${NGINX_VERSION}
    # The image's own entrypoint is a shell script that edits the configuration.
    entrypoint: [nginx, -e, stderr, -g, "daemon off;"]
    command: []
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
    # For this machine only, and without TLS.
    ports: ["127.0.0.1:\${NGINX_PORT:-8080}:8080"]
`

export const nginx: Option = {
  name: 'nginx',
  title: 'NGINX in front',
  describe({ runtime, role }, read) {
    if (runtime === 'nginx') return 'It runs inside NGINX already, so it needs no other one in front.'
    const parts = PARTS.map((path) => [`nginx/${path}`, flatten(read(`${CONF}/${path}`))] as const)
    return {
      files: {
        ...Object.fromEntries(parts),
        'nginx/nginx.conf': writeMain(read, role === 'ssr'),
        'compose.override.yaml': COMPOSE,
      },
      readme: `\`docker compose up --build --wait\` also starts NGINX, at http://127.0.0.1:8080 (\`NGINX_PORT=80\` in front for another port). It
keeps connections to the app open, compresses pages, limits headers and bodies, and logs a JSON line per response. \`nginx/\` has one concern
per file. For TLS, add a certificate and \`listen 443 ssl\` in \`nginx/nginx.conf\`; a line in \`nginx/http/hsts.conf\` then adds
\`Strict-Transport-Security\` to every response. A location with an \`add_header\` inherits no others: repeat that of \`location /\` there (NGINX
1.29.3 has \`add_header_inherit\`). A location for a stream needs \`proxy_buffering off\`. All this needs NGINX 1.27.4 (\`keepalive_min_timeout\`).
For updates of its image, add the ecosystem \`docker-compose\` to \`.github/dependabot.yml\`.`,
    }
  },
}

function writeMain(read: (path: string) => string, hasStream: boolean): string {
  const values: Readonly<Record<string, string>> = {
    NAME: 'app',
    ZONE: 'zone app 64k;',
    SERVERS: 'server app:3000 resolve max_fails=1 fail_timeout=1s;',
    LISTEN: '8080',
    ACCESS_LOG: '/dev/stdout json if=$logged',
  }
  const front = read(`${CONF}/templates/keep-alive.conf.template`)
    .replace(/^#.*\n\n/, '')
    .replace(/^ *include startgrid\/server\/ceiling\.conf;\n/m, '')
    .replace(/^ *set \$assets_dir .*\n.*\n\n/m, '')
    .replace(/\$\{([A-Z_]+)\}/g, (_placeholder, name: string) => values[name] ?? missing(name))
  const stream = / {4}# Pass on each chunk[^}]*}\n\n/
  const server = flatten(hasStream ? front : front.replace(stream, ''))
  const main = MAIN.replace('    include keepalive-reload.conf;\n', indent(graceful(read)))
  return `${main}${indent(server)}}\n`
}

/** Includes are relative to nginx.conf there. */
function flatten(text: string): string {
  return text
    .replaceAll('include startgrid/', 'include ')
    .replaceAll('log_format startgrid', 'log_format json')
}

function graceful(read: (path: string) => string): string {
  return `\n${read(`${CONF}/graceful-reload.conf`)}`
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ')
}

function missing(name: string): never {
  throw new Error(`The template of NGINX has no value for ${name}.`)
}
