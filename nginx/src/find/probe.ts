import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Http2, renderTemporaryPaths } from '../render/render.ts'
import { run } from './command.ts'

/** njs inside one NGINX. */
interface Njs {
  readonly version: string
  /** `qjs`: QuickJS, to be asked for with `js_engine qjs;`. `njs`: its own, old engine. */
  readonly engine: 'qjs' | 'njs'
  /** The file that `load_module` takes; undefined if njs is compiled in. */
  readonly module: string | undefined
}

/** What an NGINX can do. */
export interface Probe {
  readonly version: string
  readonly njs: Njs | undefined
  /** Whether it knows `keepalive_min_timeout`, without which a reload may cut an idle connection in use. */
  readonly keepaliveMinTimeout: boolean
  /** How it is told to speak HTTP/2 over TLS. */
  readonly http2: Http2
}

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

/**
 * Reads what an NGINX says of itself (`nginx -V`), and lets it serve a request with njs, on each engine. For njs, versions say too little,
 * because builds differ: Debian's njs 0.8.9 refuses QuickJS, which its version has.
 * @param program its path
 * @returns undefined if the program does not say `nginx version`
 */
export async function probe(program: string): Promise<Probe | undefined> {
  const { stderr: build } = await run({ file: program, args: ['-V'] }, 20_000)
  const version = /^nginx version: \S+?\/(\S+)/m.exec(build)?.[1]
  if (version === undefined) return undefined
  // Numbers in a text compare as numbers: 1.9 comes before 1.27.
  const isAtLeast = (least: string) => version.localeCompare(least, 'en', { numeric: true }) >= 0
  return {
    version,
    njs: await probeNjs(program, moduleFiles(build)),
    keepaliveMinTimeout: isAtLeast('1.27.4'),
    http2: isAtLeast('1.25.1') ? 'directive' : 'parameter',
  }
}

/** The module files worth trying, best first; undefined stands for "compiled in". */
function moduleFiles(build: string): (string | undefined)[] {
  const told = /--modules-path=(\S+)/.exec(build)?.[1]
  const prefix = /--prefix=(\S+)/.exec(build)?.[1]
  const ofBuild = told === undefined ? [] : [isAbsolute(told) ? told : join(prefix ?? '/', told)]
  const directories = new Set([...ofBuild, ...MODULE_DIRECTORIES])
  const files = [...directories].map((directory) => join(directory, 'ngx_http_js_module.so'))
  return [...files.filter(existsSync), undefined]
}

async function probeNjs(program: string, files: readonly (string | undefined)[]): Promise<Njs | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'startgrid-probe-'))
  try {
    for (const module of files) {
      for (const engine of ['qjs', 'njs'] as const) {
        const version = await responseOf(program, directory, module, engine)
        if (version !== undefined) return { version, engine, module }
      }
    }
    return undefined
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The njs version that a handler reports, if that module and engine really serve a request. */
async function responseOf(
  program: string,
  directory: string,
  module: string | undefined,
  engine: Njs['engine'],
): Promise<string | undefined> {
  const script = join(directory, 'probe.js')
  const socket = join(directory, 'socket')
  const config = join(directory, 'nginx.conf')
  await writeFile(script, 'export default { version(r) { r.return(200, njs.version) } }\n')
  const lines = [
    module === undefined ? '' : `load_module "${module}";`,
    'daemon off; master_process off;',
    `pid "${join(directory, 'pid')}";`,
    'events { worker_connections 16; }',
    'http {',
    'access_log off;',
    renderTemporaryPaths(directory),
    engine === 'qjs' ? 'js_engine qjs;' : '',
    `js_import probe from "${script}";`,
    `server { listen "unix:${socket}"; location / { js_content probe.version; } }`,
    '}',
  ]
  await writeFile(config, lines.join('\n'))
  const args = ['-p', directory, '-c', config, '-e', 'stderr']
  const child = spawn(program, args, { stdio: 'ignore' })
  let runs = true
  const end = () => {
    runs = false
  }
  const ended = once(child, 'exit').then(end, end)
  try {
    return await ask(socket, () => runs)
  } finally {
    child.kill('SIGKILL')
    await ended
    await rm(socket, { force: true })
  }
}

/** Asks for the version on a unix socket until it responds, for at most ten seconds. @param runs whether somebody can respond */
async function ask(socketPath: string, runs: () => boolean): Promise<string | undefined> {
  for (let attempt = 0; attempt < 500 && runs(); attempt++) {
    try {
      const request = get({ socketPath, agent: false, signal: AbortSignal.timeout(5_000) })
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      const body = await text(response)
      return response.statusCode === 200 ? body : undefined
    } catch {
      await sleep(20)
    }
  }
  return undefined
}
