import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Http2 } from '../render/render.ts'
import { type Binary, containerName, onceCommand } from './binary.ts'
import { type Command, run } from './command.ts'
import { containerCommand, signalContainer } from './docker.ts'

/** njs inside one NGINX. */
export interface Njs {
  readonly version: string
  /** `qjs`: QuickJS, to be asked for with `js_engine qjs;`. `njs`: its own, old engine. */
  readonly engine: 'qjs' | 'njs'
  /** The file that `load_module` takes, as this NGINX sees it; undefined if njs is compiled in. */
  readonly module: string | undefined
}

/** What a test run shows about an NGINX. */
export interface Probe {
  readonly version: string
  readonly njs: Njs | undefined
  /** Whether it knows `keepalive_min_timeout`, without which a reload may cut an idle connection in use. */
  readonly keepaliveMinTimeout: boolean
  readonly tls: Tls
}

/** How an NGINX is told to speak HTTP/2 over TLS, or the module that it was built without. */
export type Tls = { readonly http2: Http2 } | { readonly missing: string }

/** Where packages put modules: Debian and nginx.org, Fedora, FreeBSD, Homebrew on both processors. */
const MODULE_DIRECTORIES = [
  '/usr/lib/nginx/modules',
  '/etc/nginx/modules',
  '/usr/lib64/nginx/modules',
  '/usr/share/nginx/modules',
  '/usr/local/libexec/nginx',
  '/usr/local/lib/nginx/modules',
  '/opt/homebrew/lib/nginx/modules',
]

const MODULE = 'ngx_http_js_module.so'

/**
 * Runs an NGINX on throw-away configurations: its version, whether njs loads and on which engine it runs, and how it speaks HTTP/2.
 * Versions are not compared, because builds differ: Debian's njs 0.8.9 refuses QuickJS, which its version has.
 * @returns undefined if the program does not say `nginx version`
 */
export async function probe(
  binary: Binary,
  moduleDirectories: readonly string[] = [],
): Promise<Probe | undefined> {
  const { stderr } = await run(onceCommand(binary, ['-V']), 20_000)
  const version = /^nginx version: \S+?\/(\S+)/m.exec(stderr)?.[1]
  if (version === undefined) return undefined
  const directory = await mkdtemp(join(tmpdir(), 'startgrid-probe-'))
  try {
    const bench = { binary, directory }
    const keepaliveMinTimeout = await passes(bench, configuration(directory, '', 'keepalive_min_timeout 1s;'))
    const njs = await probeNjs(bench, moduleFiles(binary, stderr, moduleDirectories))
    return { version, njs, keepaliveMinTimeout, tls: await probeTls(bench) }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface Bench {
  readonly binary: Binary
  readonly directory: string
}

/** The module files worth trying, best first; undefined stands for "compiled in". */
function moduleFiles(binary: Binary, build: string, extra: readonly string[]): (string | undefined)[] {
  const told = /--modules-path=(\S+)/.exec(build)?.[1]
  const prefix = /--prefix=(\S+)/.exec(build)?.[1]
  const ofBuild = told === undefined ? [] : [isAbsolute(told) ? told : join(prefix ?? '/', told)]
  const directories = [...new Set([...extra, ...ofBuild, ...MODULE_DIRECTORIES])]
  // The files of an image cannot be listed from here, and each wrong guess costs a container.
  if (binary.type === 'image') return directories.slice(0, 2).map((directory) => join(directory, MODULE))
  return [...directories.map((directory) => join(directory, MODULE)).filter(existsSync), undefined]
}

async function probeTls(bench: Bench): Promise<Tls> {
  const server = (parameters: string, more = '') =>
    `server { listen "unix:${join(bench.directory, 'tls')}" ssl${parameters}; ssl_reject_handshake on; ${more} }`
  const accepts = (http: string) => passes(bench, configuration(bench.directory, '', http))
  if (await accepts(server('', 'http2 on;'))) return { http2: 'directive' }
  if (await accepts(server(' http2'))) return { http2: 'parameter' }
  return { missing: (await accepts(server(''))) ? 'ngx_http_v2_module' : 'ngx_http_ssl_module' }
}

async function probeNjs(bench: Bench, files: readonly (string | undefined)[]): Promise<Njs | undefined> {
  for (const module of files) {
    for (const engine of ['qjs', 'njs'] as const) {
      const version = await responseOf(bench, module, engine)
      if (version !== undefined) return { version, engine, module }
    }
  }
  return undefined
}

/** The njs version that a handler reports, if that module and engine really serve a request. */
async function responseOf(
  bench: Bench,
  module: string | undefined,
  engine: Njs['engine'],
): Promise<string | undefined> {
  const { directory } = bench
  const script = join(directory, 'probe.js')
  await writeFile(script, 'export default { version(r) { r.return(200, njs.version) } }\n')
  const http = [
    ...(engine === 'qjs' ? ['js_engine qjs;'] : []),
    `js_import probe from "${script}";`,
    `server { listen "unix:${join(directory, 'socket')}"; location / { js_content probe.version; } }`,
  ]
  const text = configuration(
    directory,
    module === undefined ? '' : `load_module "${module}";`,
    http.join('\n'),
  )
  if (!(await passes(bench, text))) return undefined
  return serveOnce(bench)
}

/** Whether `nginx -t` accepts a configuration, which is left in the directory for `serveOnce`. */
async function passes({ binary, directory }: Bench, text: string): Promise<boolean> {
  await writeFile(configFile(directory), text)
  const args = ['-t', ...nginxArguments(directory)]
  return (await run(onceCommand(binary, args, [{ path: directory, writable: true }]), 20_000)).code === 0
}

async function serveOnce({ binary, directory }: Bench): Promise<string | undefined> {
  const name = containerName()
  const { file, args, env } = serveCommand(binary, directory, name)
  const child = spawn(file, args, { stdio: 'ignore', env: { ...process.env, ...env } })
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
  try {
    return await Promise.race([ask(join(directory, 'socket')), ended.then(() => undefined)])
  } finally {
    if (binary.type === 'image') await signalContainer(name, 'SIGKILL')
    child.kill('SIGKILL')
    await ended
    await rm(join(directory, 'socket'), { force: true })
  }
}

function serveCommand(binary: Binary, directory: string, name: string): Command {
  const args = nginxArguments(directory)
  if (binary.type === 'native') return { file: binary.path, args, env: binary.env }
  const mounts = [{ path: directory, writable: true }]
  return containerCommand({ image: binary.image, name, mounts, mode: 'once' }, ['nginx', ...args])
}

/** Asks for the version on a unix socket until it responds, for at most ten seconds. */
async function ask(socketPath: string): Promise<string | undefined> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const response = await new Promise<string | undefined>((resolve) => {
      get({ socketPath, path: '/', agent: false, timeout: 5_000 }, (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          body += chunk
        })
        response.on('end', () => resolve(response.statusCode === 200 ? body : ''))
      }).on('error', () => resolve(undefined))
    })
    if (response !== undefined) return response === '' ? undefined : response
    await sleep(50)
  }
  return undefined
}

/** One process without workers or logs; temporary paths because the compiled ones may need root. */
function configuration(directory: string, main: string, http: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return [
    main,
    'daemon off; master_process off;',
    `pid "${join(directory, 'pid')}";`,
    'events { worker_connections 16; }',
    'http {',
    'access_log off;',
    ...temporary.map((name) => `${name}_temp_path "${join(directory, name)}";`),
    http,
    '}',
    '',
  ].join('\n')
}

function configFile(directory: string): string {
  return join(directory, 'nginx.conf')
}

function nginxArguments(directory: string): string[] {
  return ['-p', directory, '-c', configFile(directory), '-e', 'stderr']
}
