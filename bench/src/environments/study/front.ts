import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Target } from '@startgrid/grid/launcher.ts'
import { claimPort, formatAddress, formatUpstream } from '@startgrid/nginx/address.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Certificate, Front } from '@startgrid/nginx/front.ts'
import { type Instance, startNginx } from '@startgrid/nginx/instance.ts'
import {
  CONF,
  fill,
  type Place,
  renderHttp,
  renderMain,
  renderTemporaryPaths,
} from '@startgrid/nginx/render.ts'
import { ASSETS_DIR } from '@startgrid/shared/page/server.js'
import type { FrontKind } from '../../model/experiment.ts'

interface FrontOptions {
  kind: FrontKind
  /** What stands behind it: one, or several for `balanced`; none where NGINX is alone. */
  upstreams: readonly Target[]
  workers: number
  /** As taskset writes them. */
  cpus: string | undefined
  /** As of `System`. */
  lines?: string | undefined
  certificate?: Certificate | undefined
  /** Whether it serves /assets/ itself, as in front of the ssr apps of the grid. */
  assets: boolean
}

/** Both sides of the 10,000 connections of a study, in one worker. */
const CONNECTIONS = 24_000

const ASSETS_PATH = fileURLToPath(ASSETS_DIR).replace(/\/$/, '')

/** The kinds that only studies need; their templates are in nginx/conf/studies. */
const STUDY_KINDS = [
  'return-200',
  'static',
  'balanced',
  'bare',
  'bare-naive',
  'bare-socket',
  'microcache',
] as const
type StudyKind = (typeof STUDY_KINDS)[number]

function isStudyKind(kind: FrontKind): kind is StudyKind {
  return STUDY_KINDS.some((one) => one === kind)
}

/** Starts the NGINX of one system. @throws {Error} one sentence */
export async function startFront(nginx: Nginx, options: FrontOptions): Promise<Instance> {
  const { kind, workers, cpus } = options
  const process = { workers, ...(cpus !== undefined && { cpus }) }
  if (!isStudyKind(kind)) return startNginx(nginx, { ...process, fronts: [frontOf({ ...options, kind })] })
  const { certificate } = options
  const port = await claimPort({ host: '127.0.0.1', port: 0 })
  const listen = {
    host: '127.0.0.1',
    port,
    ...(certificate && { ca: readFileSync(certificate.certificate, 'utf8') }),
  }
  const config = (place: Place): string => renderStudy(options, place, formatAddress(listen))
  return startNginx(nginx, {
    ...process,
    config,
    listen: [listen],
    mounts: [{ path: ASSETS_PATH }, ...(certificate ? [{ path: dirname(certificate.key) }] : [])],
  })
}

function frontOf({
  kind,
  upstreams: [upstream],
  assets,
}: FrontOptions & { kind: Exclude<FrontKind, StudyKind> }): Front {
  if (upstream === undefined) throw new Error(`An NGINX of kind ${kind} needs an app behind it.`)
  // To NGINX a socket is only another address of the responder.
  const topology = kind === 'fastcgi-socket' ? 'fastcgi' : kind
  const listen = { host: '127.0.0.1', port: 0 }
  return { name: 'study', topology, listen, upstream, ...(assets && { serveAssets: ASSETS_PATH }) }
}

function renderStudy(
  { kind, upstreams, lines = '', certificate }: FrontOptions,
  place: Place,
  listen: string,
): string {
  const read = (path: string) => readFileSync(join(CONF, path), 'utf8')
  const server = fill(read(`studies/${kind === 'bare-socket' ? 'bare' : kind}.conf.template`), {
    LISTEN: certificate ? `${listen} ssl` : listen,
    LINES: certificate
      ? `ssl_certificate "${certificate.certificate}"; ssl_certificate_key "${certificate.key}"; ${lines}`
      : lines,
    ASSETS_DIR: ASSETS_PATH,
    // A burst must not take one out of turn: without max_fails=0 its first refusal does, for 10 s.
    SERVERS: upstreams.map((upstream) => `server ${formatUpstream(upstream)} max_fails=0;`).join('\n    '),
  })
  const http = [renderTemporaryPaths(place.dir), renderHttp(), server]
  return [renderMain(place, CONNECTIONS), 'http {', ...http, '}', ''].join('\n')
}
