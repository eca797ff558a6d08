import type {
  V1Affinity,
  V1Container,
  V1ObjectMeta,
  V1Pod,
  V1PodSpec,
  V1Probe,
  V1Volume,
} from '@kubernetes/client-node'
import { type App, runtimeOf, type Topology } from '@startgrid/grid/apps.ts'
import { APP_PORT, FRONT_SERVICE, PAGE_PORT } from '@startgrid/grid/compose.ts'
import type { Runtime } from '@startgrid/grid/frameworks.ts'
import { IMAGE_TAG } from '@startgrid/grid/kubernetes.ts'
import { NEVER_SHED } from '@startgrid/grid/launcher.ts'
import type { Address } from '@startgrid/nginx/address.ts'
import type { Front } from '@startgrid/nginx/front.ts'
import { renderNginx } from '@startgrid/nginx/render.ts'
import type { Program, System } from '../../model/experiment.ts'
import { hostOf } from '../docker/project.ts'
import type { NodeLabels } from './site.ts'

/**
 * The pods of a run. They keep to the Pod Security Standard `restricted`. Requests of CPU are small, and there is no limit: its quota would stop a
 * server in the middle of a slice although the node has time. Pure.
 */

/** The container beside the servers that reads their accounts. */
export const AGENT = 'agent'

/** The container of a generator. */
export const GENERATOR = 'loadgen'

export const AGENT_COMMAND = ['node', 'packages/machine/src/agent/program.ts'] as const
export const GENERATOR_COMMAND = [
  'node',
  '--no-memory-reducer',
  'packages/loadgen/src/engine/child.ts',
] as const

/** The user of all containers, also of NGINX: only processes of the same user may look into each other's control groups. */
const USER = 1000

/** A pod ends by itself after that, if nobody is left to remove it: a heat takes minutes, a run a day at most. */
const LONGEST_SECONDS = 86_400

/** The image of a framework, of `nginx` or of `loadgen`, in the registry and version that docker-compose.yml takes from the same variables. */
export function imageOf(name: string, environment = process.env): string {
  const { STARTGRID_REGISTRY: registry = 'startgrid', STARTGRID_TAG: tag = IMAGE_TAG } = environment
  return `${registry}/${name}:${tag}`
}

export interface Placement {
  /** The only node; undefined for any. */
  node?: string
  /** Never these nodes. */
  notNodes?: readonly string[]
  labels?: NodeLabels | undefined
}

/** The port of the app with this index in the pod of its heat: containers of a pod share its network. */
export function portOf(index: number): number {
  return APP_PORT + 1 + index
}

/** The port of NGINX's `return 200`. */
export const CEILING_PORT = PAGE_PORT

/** @param index of the app behind it */
export function frontPortOf(index: number): number {
  return PAGE_PORT + 1 + index
}

/** A pod in which the generator, the agent and the contract's suite can be started. */
export function generatorPod(metadata: V1ObjectMeta, placement: Placement): V1Pod {
  return podOf(metadata, placement, { containers: [waiting(GENERATOR)] })
}

interface HeatPods {
  apps: readonly App[]
  /** Whether an NGINX stands in front. */
  proxied: boolean
}

/** All servers of a heat, and the agent. */
export function serverPod(metadata: V1ObjectMeta, placement: Placement, { apps, proxied }: HeatPods): V1Pod {
  const parts = [
    ...apps.map((app, index) => appContainer(app, portOf(index))),
    ...(proxied
      ? [nginxContainer(FRONT_SERVICE, imageOf('nginx'), renderFronts(frontsOf(apps)), CEILING_PORT)]
      : []),
  ]
  return podOf(metadata, placement, {
    // The agent sees the processes of the other containers.
    shareProcessNamespace: true,
    containers: [...parts.map(({ container }) => container), waiting(AGENT)],
    volumes: parts.flatMap(({ volume }) => volume ?? []),
  })
}

/** Prints lines about an image. */
const SCOUTS: Readonly<Record<Runtime, string>> = {
  node: 'node --version',
  bun: 'bun --version',
  nginx: `nginx -v 2>&1; sed -n 's/^ *js_engine \\(.*\\);/\\1/p' /etc/nginx/hello.conf`,
}

/** A container for each image that a run needs: whether the node has them or can pull them, and what is in them. */
export function scoutPod(metadata: V1ObjectMeta, placement: Placement, images: readonly string[]): V1Pod {
  const containers = images.map((name): V1Container => {
    const scout = name === FRONT_SERVICE ? 'nginx -v 2>&1' : SCOUTS[runtimeOf(name)]
    // The cluster reads a container's last words there.
    const command = `(${scout}) > /dev/termination-log`
    return { ...containerOf(name, imageOf(name)), command: ['sh', '-c', command] }
  })
  return podOf(metadata, placement, { containers: [...containers, waiting(AGENT)] })
}

function podOf(metadata: V1ObjectMeta, placement: Placement, spec: V1PodSpec): V1Pod {
  const affinity = affinityOf(placement)
  return {
    metadata,
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds: LONGEST_SECONDS,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        ...{ runAsNonRoot: true, runAsUser: USER, runAsGroup: USER },
        seccompProfile: { type: 'RuntimeDefault' },
      },
      ...(placement.labels !== undefined && { nodeSelector: { ...placement.labels } }),
      ...(affinity !== undefined && { affinity }),
      ...spec,
    },
  }
}

/** The names of nodes are no labels, which somebody may have changed. */
function affinityOf({ node, notNodes = [] }: Placement): V1Affinity | undefined {
  if (node === undefined && notNodes.length === 0) return undefined
  const matchFields = [
    ...(node === undefined ? [] : [{ key: 'metadata.name', operator: 'In', values: [node] }]),
    ...notNodes.map((name) => ({ key: 'metadata.name', operator: 'NotIn', values: [name] })),
  ]
  return {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
    },
  }
}

function containerOf(name: string, image: string): V1Container {
  return {
    ...{ name, image, imagePullPolicy: 'IfNotPresent', terminationMessagePolicy: 'FallbackToLogsOnError' },
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '1Gi' } },
    securityContext: {
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      capabilities: { drop: ['ALL'] },
    },
  }
}

/** Commands are run in it; until then it waits. */
function waiting(name: string): V1Container {
  return { ...containerOf(name, imageOf('loadgen')), command: ['sleep', 'infinity'] }
}

interface Part {
  container: V1Container
  volume?: V1Volume
}

/** As in a heat of containers: no log of requests, and no page is refused. */
function appContainer(app: App, port: number): Part {
  const name = hostOf(app)
  const image = imageOf(app.framework)
  if (app.runtime === 'nginx') {
    // The image's configuration has the port of an app that is alone in its pod.
    const script = `sed 's/\\(listen [^;]*\\)${APP_PORT}/\\1${port}/' /etc/nginx/${app.role}-quiet.conf`
    return nginxPart(name, image, `${script} > /tmp/nginx/heat.conf`, port, '/readyz')
  }
  const env = { ...NEVER_SHED, LOG_LEVEL: 'warn', PORT: String(port), TRUST_PROXY: 'loopback' }
  return {
    container: {
      ...containerOf(name, image),
      args: [app.runtime, 'src/server.ts', app.role],
      env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
      startupProbe: probeOf(port, '/readyz'),
    },
  }
}

function nginxContainer(name: string, image: string, config: string, port: number): Part {
  const part = nginxPart(name, image, `printf %s "$HEAT" > /tmp/nginx/heat.conf`, port, '/ceiling')
  return { ...part, container: { ...part.container, env: [{ name: 'HEAT', value: config }] } }
}

/** What a configuration includes is beside it, and the image's directory cannot be written to. */
function nginxPart(name: string, image: string, write: string, port: number, path: string): Part {
  const start = 'exec nginx -e stderr -c /tmp/nginx/heat.conf'
  const volume = `tmp-${name}`
  return {
    container: {
      ...containerOf(name, image),
      command: ['sh', '-c', `mkdir /tmp/nginx && ln -s /etc/nginx/* /tmp/nginx/ && ${write} && ${start}`],
      volumeMounts: [{ name: volume, mountPath: '/tmp' }],
      startupProbe: probeOf(port, path),
    },
    volume: { name: volume, emptyDir: { sizeLimit: '64Mi' } },
  }
}

/** It ends with the first success: no probe may run beside a slice. */
function probeOf(port: number, path: string): V1Probe {
  return { httpGet: { path, port }, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 60 }
}

/** Where docker/nginx.Dockerfile puts the page's files. */
const ASSETS = '/srv/assets'

/** Fronts for the apps of a heat, as natively. */
function frontsOf(apps: readonly App[]): Front[] {
  return apps.map((app, index) =>
    frontOf(app, frontPortOf(index), [{ host: '127.0.0.1', port: portOf(index) }]),
  )
}

function frontOf(app: App, port: number, [upstream, ...copies]: readonly [Address, ...Address[]]): Front {
  return {
    ...{ name: hostOf(app), topology: 'nginx', upstream, copies },
    listen: { host: '0.0.0.0', port },
    ...(app.role === 'ssr' && { serveAssets: ASSETS }),
  }
}

/** These fronts, and one that responds to `/ceiling` alone. */
function renderFronts(fronts: readonly Front[], workers = 1): string {
  return renderNginx({
    ...{ dir: '/tmp', workers, contained: true, keepaliveMinTimeout: true, accessLog: 'off' },
    fronts: [
      {
        ...{ name: 'ceiling', topology: 'nginx', listen: { host: '0.0.0.0', port: CEILING_PORT } },
        upstream: { host: '127.0.0.1', port: 1 }, // never asked
      },
      ...fronts,
    ],
  })
}

/** Where a system of a study is reached in its pod. */
export function studyAddress(topology: Topology): Address {
  return { host: '0.0.0.0', port: topology === 'direct' ? portOf(0) : frontPortOf(0) }
}

/** One system of a study: its app, and the NGINX in front of it. An NGINX that is alone is the app. */
export function studyPod(metadata: V1ObjectMeta, placement: Placement, { app, nginx }: System): V1Pod {
  const parts = [
    ...(app === undefined ? [] : [programContainer(app)]),
    ...(nginx === undefined ? [] : [studyNginx(app, nginx)]),
  ]
  return podOf(metadata, placement, {
    shareProcessNamespace: true,
    containers: [...parts.map(({ container }) => container), waiting(AGENT)],
    volumes: parts.flatMap(({ volume }) => volume ?? []),
  })
}

function programContainer({ package: path, role, env = {}, flags = [] }: Program): Part {
  const own = { ...NEVER_SHED, LOG_LEVEL: 'warn', PORT: String(portOf(0)), TRUST_PROXY: 'loopback', ...env }
  return {
    container: {
      ...containerOf('app', imageOf(path.replace(/^.*\//, ''))),
      args: [runtimeOf(path), ...flags, 'src/server.ts', role],
      env: Object.entries(own).map(([key, value]) => ({ name: key, value })),
      startupProbe: probeOf(portOf(0), '/readyz'),
    },
  }
}

function studyNginx(app: Program | undefined, { front, workers = 1 }: NonNullable<System['nginx']>): Part {
  // Every front of NGINX responds to /ceiling; one that is alone responds so to everything.
  if (app === undefined) {
    const config = renderFronts([], workers).replaceAll(`:${CEILING_PORT}`, `:${portOf(0)}`)
    return nginxContainer('app', imageOf('nginx'), config, portOf(0))
  }
  const config = renderFronts(
    [
      {
        ...{ name: 'app', topology: front === 'nginx-naive' ? 'nginx-naive' : 'nginx' },
        listen: { host: '0.0.0.0', port: frontPortOf(0) },
        upstream: { host: '127.0.0.1', port: portOf(0) },
        ...(app.role === 'ssr' && { serveAssets: ASSETS }),
      },
    ],
    workers,
  )
  return nginxContainer(FRONT_SERVICE, imageOf('nginx'), config, CEILING_PORT)
}
