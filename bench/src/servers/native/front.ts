import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { claimPort, formatAddress, formatUpstream } from '@startgrid/nginx/address.ts'
import { type KeyType, makeCertificate } from '@startgrid/nginx/certificate.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { type Instance, startNginx } from '@startgrid/nginx/instance.ts'
import {
  type Certificate,
  CONF,
  type Front,
  fill,
  type MainOptions,
  renderHttp,
  renderMain,
  renderTemporaryPaths,
} from '@startgrid/nginx/render.ts'
import { ASSETS_DIR } from '@startgrid/shared/page/server.js'
import type { Target } from '@startgrid/wire/target.ts'
import type { FrontKind } from '../../result/experiment.ts'

/** One way through an NGINX. */
export interface Route {
  kind: FrontKind
  /** What stands behind it: one, or several for `balanced`; none where NGINX is alone. */
  upstreams: readonly Target[]
  /** As of `System`. */
  lines?: string | undefined
  certificate?: Certificate | undefined
  /** Whether it serves /assets/ itself, as in front of the ssr apps of the grid. */
  assets: boolean
}

interface FrontOptions {
  workers: number
  /** As taskset writes them; undefined: all. */
  cpus: string | undefined
}

/** Both sides of the 10,000 connections of a study, in one worker. */
const CONNECTIONS = 24_000

const ASSETS_PATH = fileURLToPath(ASSETS_DIR).replace(/\/$/, '')

/** The kinds that only studies need; their templates are in nginx/conf/studies. Each has an NGINX of its own. */
const STUDY_KINDS = [
  ...(['return-200', 'balanced', 'bare', 'bare-naive'] as const),
  ...(['bare-naive-socket', 'nginx-naive', 'scgi-socket'] as const),
] as const
type StudyKind = (typeof STUDY_KINDS)[number]

function isStudyKind(kind: FrontKind): kind is StudyKind {
  return STUDY_KINDS.some((one) => one === kind)
}

/**
 * Starts an NGINX with these routes.
 * @returns its addresses are those of the routes, in the same order
 * @throws {Error} one sentence
 */
export async function startFronts(
  nginx: Nginx,
  routes: readonly Route[],
  { workers, cpus }: FrontOptions,
): Promise<Instance> {
  const process = { workers, ...(cpus !== undefined && { cpus }) }
  const [first] = routes
  if (first === undefined || !isStudyKind(first.kind))
    return startNginx(nginx, { ...process, fronts: routes.map(frontOf) })
  const { kind, certificate } = first
  const port = await claimPort({ host: '127.0.0.1', port: 0 })
  const listen = {
    host: '127.0.0.1',
    port,
    ...(certificate && { ca: readFileSync(certificate.certificate, 'utf8') }),
  }
  const server = renderStudy(kind, { ...first, listen: formatAddress(listen) })
  const config = (main: MainOptions): string => {
    const http = [renderTemporaryPaths(main.dir), renderHttp(), server]
    return [renderMain(main, CONNECTIONS), 'http {', ...http, '}', ''].join('\n')
  }
  return startNginx(nginx, { ...process, config, listen: [listen] })
}

/** What stands behind an NGINX that is alone. */
const NOBODY = { host: '127.0.0.1', port: 1 }

function frontOf({ kind, upstreams: [upstream = NOBODY], assets }: Route, index: number): Front {
  if (isStudyKind(kind)) throw new Error(`An NGINX of kind ${kind} has one route.`)
  return {
    name: `front-${index}`,
    topology: kind,
    listen: { host: '127.0.0.1', port: 0 },
    upstream,
    ...(assets && { serveAssets: ASSETS_PATH }),
  }
}

interface StudyServer extends Omit<Route, 'kind' | 'assets'> {
  listen: string
}

/** The blocks of a kind that only studies need, for the `http` block. */
function renderStudy(kind: StudyKind, { listen, upstreams, lines = '', certificate }: StudyServer): string {
  return fill(readFileSync(join(CONF, `studies/${kind.replace(/-socket$/, '')}.conf.template`), 'utf8'), {
    LISTEN: certificate ? `${listen} ssl` : listen,
    LINES: certificate
      ? `ssl_certificate "${certificate.certificate}"; ssl_certificate_key "${certificate.key}"; ${lines}`
      : lines,
    // A burst must not take one out of turn: without max_fails=0 its first refusal does, for 10 s.
    SERVERS: upstreams.map((upstream) => `server ${formatUpstream(upstream)} max_fails=0;`).join('\n    '),
  })
}

const made = new Map<KeyType, Promise<Certificate>>()

/** A certificate for loopback, one per type in this process: all systems of a study show the same one. The files go with this process. */
export function certificateOf(keyType: KeyType): Promise<Certificate> {
  const known = made.get(keyType)
  if (known !== undefined) return known
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-certificate-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const certificate = makeCertificate(directory, keyType)
  made.set(keyType, certificate)
  return certificate
}
