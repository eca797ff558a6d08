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
  TOPOLOGIES,
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

/** Both sides of the 10,000 connections of a study, in one worker. */
const CONNECTIONS = 24_000

const ASSETS_PATH = fileURLToPath(ASSETS_DIR).replace(/\/$/, '')

/** All others only studies need: each has an NGINX of its own, and a template in nginx/conf/studies. */
function isOfGrid(kind: FrontKind): kind is Front['topology'] {
  return TOPOLOGIES.some((one) => one === kind)
}

/**
 * Starts an NGINX with these routes.
 * @param cpus as taskset writes them; undefined: all
 * @returns its addresses are those of the routes, in the same order
 * @throws {Error} one sentence
 */
export async function startFronts(
  nginx: Nginx,
  routes: readonly Route[],
  cpus: string | undefined,
): Promise<Instance> {
  const process = { workers: 1, ...(cpus !== undefined && { cpus }) }
  const [first] = routes
  if (first === undefined || isOfGrid(first.kind))
    return startNginx(nginx, { ...process, fronts: routes.map(frontOf) })
  const { certificate } = first
  const place = { host: '127.0.0.1', port: await claimPort({ host: '127.0.0.1', port: 0 }) }
  const listen = { ...place, ...(certificate && { ca: readFileSync(certificate.certificate, 'utf8') }) }
  const server = renderStudy(first, formatAddress(listen))
  const config = (main: MainOptions): string => {
    const http = [renderTemporaryPaths(main.dir), renderHttp(), server]
    return [renderMain(main, CONNECTIONS), 'http {', ...http, '}', ''].join('\n')
  }
  return startNginx(nginx, { ...process, config, listen: [listen] })
}

function frontOf({ kind, upstreams: [upstream], assets }: Route, index: number): Front {
  if (!isOfGrid(kind) || upstream === undefined) throw new Error(`An NGINX of kind ${kind} has one route.`)
  return {
    name: `front-${index}`,
    topology: kind,
    listen: { host: '127.0.0.1', port: 0 },
    upstream,
    ...(assets && { serveAssets: ASSETS_PATH }),
  }
}

/** The blocks of a kind that only studies need, for the `http` block. */
function renderStudy({ kind, upstreams, lines = '', certificate }: Route, listen: string): string {
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
