import type {
  V1Affinity,
  V1Container,
  V1ObjectMeta,
  V1Pod,
  V1PodSpec,
  V1Probe,
  V1Volume,
} from '@kubernetes/client-node'
import { runtimeOf } from '@startgrid/grid/apps.ts'
import { APP_PORT, FRONT_SERVICE, PAGE_PORT } from '@startgrid/grid/compose.ts'
import type { Runtime } from '@startgrid/grid/frameworks.ts'
import { IMAGE_TAG } from '@startgrid/grid/kubernetes.ts'
import { type Address, formatAddress } from '@startgrid/nginx/address.ts'
import type { Front } from '@startgrid/nginx/front.ts'
import type { Cell } from '../../model/cell.ts'
import type { FrontKind, Program, System } from '../../model/experiment.ts'
import {
  frameworkOf,
  hostOf,
  isInNginx,
  launchOf,
  MEASURABLE,
  nginxKey,
  type Placed,
} from '../environment.ts'
import { ASSETS_INSIDE, isStudyKind, NOBODY, renderContained, renderStudy } from '../native/front.ts'
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

/** The port of the first NGINX's `return 200`; that of each further one is below. */
export const CEILING_PORT = PAGE_PORT

/** @param index of the cell among those that have an NGINX */
export function frontPortOf(index: number): number {
  return PAGE_PORT + 1 + index
}

/** A pod in which the generator, the agent and the contract's suite can be started. */
export function generatorPod(metadata: V1ObjectMeta, placement: Placement): V1Pod {
  return podOf(metadata, placement, { containers: [waiting(GENERATOR)] })
}

/** The containers of a cell, by name, and where the generators reach it. */
export interface CellParts {
  /** Of an NGINX that is alone, its own. */
  app: string
  proxy: string | null
  port: number
}

/** Which container serves which cell. */
export interface PodLayout {
  programs: { name: string; app: Program; port: number }[]
  nginxes: { name: string; workers: number; ceilingPort: number; routes: PodRoute[] }[]
  /** By cell. */
  parts: Map<string, CellParts>
}

interface PodRoute {
  kind: FrontKind
  port: number
  /** Undefined: NGINX is alone. */
  upstream: Address | undefined
  assets: boolean
}

export function layOut(entrants: readonly Placed[]): PodLayout {
  const launches = Map.groupBy(
    entrants.filter(({ system }) => system.app !== undefined),
    launchOf,
  )
  const programs = [...launches].flatMap(([launch, [first]], index) => {
    const app = first?.system.app
    return app === undefined ? [] : [{ name: hostOf(launch), app, port: portOf(index) }]
  })
  const parts = new Map<string, CellParts>()
  const programOf = (one: Placed) => programs.find(({ name }) => name === hostOf(launchOf(one)))
  for (const one of entrants) {
    const { name = '', port = 0 } = programOf(one) ?? {}
    parts.set(one.cell.id, { app: name, proxy: null, port })
  }
  const behind = entrants.filter(({ system }) => system.nginx !== undefined)
  const nginxes = [...Map.groupBy(behind, nginxKey)].map(([key, own], number) => {
    const name = number === 0 ? FRONT_SERVICE : `${FRONT_SERVICE}-${hostOf(key)}`
    const routes = own.map((one): PodRoute => {
      const port = frontPortOf(behind.indexOf(one))
      const program = programOf(one)
      const isAlone = program === undefined
      parts.set(one.cell.id, { app: isAlone ? name : program.name, proxy: isAlone ? null : name, port })
      return {
        ...{ kind: one.system.nginx?.front ?? 'nginx', port },
        upstream: program && { host: '127.0.0.1', port: program.port },
        assets: one.system.app?.role === 'ssr',
      }
    })
    return { name, workers: own[0]?.system.nginx?.workers ?? 1, ceilingPort: CEILING_PORT - number, routes }
  })
  return { programs, nginxes, parts }
}

/** All servers of a heat, and the agent. */
export function serverPod(
  metadata: V1ObjectMeta,
  placement: Placement,
  { programs, nginxes }: Omit<PodLayout, 'parts'>,
): V1Pod {
  const parts = [
    ...programs.map(({ name, app, port }) => appContainer(name, app, port)),
    ...nginxes.map(({ name, workers, ceilingPort, routes }) =>
      nginxContainer(name, renderRoutes(routes, { workers, ceilingPort }), ceilingPort),
    ),
  ]
  return podOf(metadata, placement, {
    // The agent sees the processes of the other containers.
    shareProcessNamespace: true,
    containers: [...parts.map(({ container }) => container), waiting(AGENT)],
    volumes: parts.flatMap(({ volume }) => volume ?? []),
  })
}

/** Why a system cannot be measured in a cluster. @returns a clause; null if it can */
export function whyNotInPods(
  system: System,
  { workload, generator }: Pick<Cell, 'workload' | 'generator'>,
): string | null {
  if (workload === null) return 'a program on this machine measures it, and no load from another node'
  if (generator !== 'startgrid') return `${generator} does not run in a cluster`
  const { app, nginx, tls } = system
  if (app !== undefined && !app.package.startsWith('apps/')) return `there is no image of ${app.package}`
  if ((app?.copies ?? 1) > 1) return 'several copies behind one NGINX are processes of one machine'
  if (isInNginx(system) && app?.env !== undefined) return 'the image of njs has one engine and one worker'
  if (nginx?.front.startsWith('fastcgi') || nginx?.front.endsWith('-socket'))
    return 'containers have no socket in common'
  if (tls !== undefined || nginx?.front === 'nginx-tls') return 'the images have no certificate'
  if (nginx?.lines !== undefined) return 'the image of NGINX has no configuration for it'
  return null
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
function appContainer(name: string, app: Program, port: number): Part {
  const { package: path, role, env = {}, flags = [] } = app
  const image = imageOf(frameworkOf({ app }) ?? '')
  if (runtimeOf(path) === 'nginx') {
    // The image's configuration has the port of an app that is alone in its pod.
    const script = `sed 's/\\(listen [^;]*\\)${APP_PORT}/\\1${port}/' /etc/nginx/${role}-quiet.conf`
    return nginxPart(name, image, `${script} > /tmp/nginx/heat.conf`, port, '/readyz')
  }
  const own = { ...MEASURABLE, PORT: String(port), TRUST_PROXY: 'loopback', ...env }
  return {
    container: {
      ...containerOf(name, image),
      args: [runtimeOf(path), ...flags, 'src/server.ts', role],
      env: Object.entries(own).map(([key, value]) => ({ name: key, value })),
      startupProbe: probeOf(port, '/readyz'),
    },
  }
}

function nginxContainer(name: string, config: string, port: number): Part {
  const write = `printf %s "$HEAT" > /tmp/nginx/heat.conf`
  const part = nginxPart(name, imageOf('nginx'), write, port, '/ceiling')
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

/** As natively, and a front that responds to `/ceiling` alone. */
function renderRoutes(
  routes: readonly PodRoute[],
  { workers, ceilingPort }: { workers: number; ceilingPort: number },
): string {
  const listenOn = (port: number) => ({ host: '0.0.0.0', port })
  const fronts = routes.flatMap(({ kind, port, upstream = NOBODY, assets }): Front[] =>
    kind !== 'nginx' && kind !== 'nginx-naive'
      ? []
      : [
          {
            ...{ name: `front-${port}`, topology: kind, listen: listenOn(port), upstream },
            ...(assets && { serveAssets: ASSETS_INSIDE }),
          },
        ],
  )
  const blocks = routes.flatMap(({ kind, port, upstream }) => {
    const upstreams = upstream === undefined ? [] : [upstream]
    const options = { listen: formatAddress(listenOn(port)), files: ASSETS_INSIDE, upstreams }
    return isStudyKind(kind) ? [renderStudy(kind, options)] : []
  })
  return renderContained(fronts, { ceilingPort, workers, blocks })
}
