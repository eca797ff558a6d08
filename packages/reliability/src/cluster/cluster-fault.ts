import type { App } from '@startgrid/grid/apps.ts'
import { serviceName } from '@startgrid/grid/compose.ts'
import type { Outcome } from '../fault.ts'
import type { ClusterSubject, WayTallies } from './cluster-subject.ts'

/** A fault of a cluster: a row of the matrix for clusters. */
export interface ClusterFault {
  readonly name: string
  readonly title: string
  readonly expected: string
  /** Whether it happens to a node, so to all apps at once. */
  readonly ofNode?: boolean
  /** Why it cannot be tried, as a sentence; undefined if it can. */
  absent?(subject: ClusterSubject): string | undefined
  /** Tries it on these apps at once; one app, unless it is a fault of a node. @returns an outcome per name of an app */
  run(subject: ClusterSubject, apps: readonly App[]): Promise<ReadonlyMap<string, Outcome>>
}

/** A pod of the app, and of NGINX, ends in good order: no request may fail. */
function judgeNoLoss({ direct, nginx }: WayTallies): Outcome {
  const findings = [...lossesOf('directly', direct), ...lossesOf('behind NGINX', nginx)]
  return { findings, figures: figuresOfBoth({ direct, nginx }) }
}

/** A pod is gone at once: what was in flight there may fail directly. Behind NGINX, another pod gets the request. */
function judgeKill({ direct, nginx }: WayTallies): Outcome {
  return {
    findings: lossesOf('behind NGINX', nginx),
    figures: { ...figuresOfBoth({ direct, nginx }), ...figuresOf('direct', direct) },
  }
}

/** What a lost node must not do is lose requests for good. */
const QUIET_MS = 5_000

function judgeLostNode({ direct, nginx }: WayTallies): Outcome {
  const ways = [
    ['directly', direct],
    ['behind NGINX', nginx],
  ] as const
  const findings = ways.flatMap(([way, { lastFailureMs, lastedMs }]) =>
    lastFailureMs !== null && lastFailureMs > lastedMs - QUIET_MS
      ? [`Requests ${way} still failed ${Math.round(lastFailureMs / 1_000)} s after the node was gone.`]
      : [],
  )
  return {
    findings,
    figures: {
      ...figuresOfBoth({ direct, nginx }),
      ...figuresOf('direct', direct),
      ...figuresOf('NGINX', nginx),
    },
  }
}

function figuresOfBoth({ direct, nginx }: WayTallies) {
  return { requests: direct.responded + nginx.responded, shed: direct.shed + nginx.shed }
}

function lossesOf(way: string, { responded, crossed, failures }: WayTallies['direct']): string[] {
  const lost = failures.map(([what, times]) => `${what} (${times} times)`)
  if (crossed > 0) lost.push(`${crossed} on kept connections that were closed as idle`)
  if (responded === 0) return [`No request got a response ${way}.`]
  return lost.length === 0 ? [] : [`Requests failed ${way}: ${lost.join('; ')}. ${responded} got a response.`]
}

function figuresOf(way: string, { crossed, failures, lastFailureMs }: WayTallies['direct']) {
  const failed = failures.reduce((sum, [, times]) => sum + times, crossed)
  return {
    [`failed, ${way}`]: failed,
    [`last failure, ${way}, s`]:
      failed === 0 || lastFailureMs === null ? '' : Math.round(lastFailureMs / 100) / 10,
  }
}

/** New pods replace old ones, as after a change of the image. */
const rollingUpdate: ClusterFault = {
  name: 'rolling-update',
  title: '`kubectl rollout restart` under load',
  expected: 'no failed request, directly and behind NGINX',
  run: (subject, apps) =>
    subject.underLoad(apps, judgeNoLoss, async () => {
      for (const app of apps) await subject.restart(serviceName(app))
    }),
}

const scaling: ClusterFault = {
  name: 'scaling',
  title: 'from 1 pod to 4 and back, under load',
  expected: 'no failed request, directly and behind NGINX',
  async run(subject, apps) {
    const scale = async (replicas: number) => {
      for (const app of apps) await subject.scale(serviceName(app), replicas)
    }
    try {
      await scale(1)
      return await subject.underLoad(apps, judgeNoLoss, async () => {
        await scale(4)
        await scale(1)
      })
    } finally {
      await scale(2)
    }
  },
}

const podKilled: ClusterFault = {
  name: 'pod-killed',
  title: 'SIGKILL for all processes of a pod, under load',
  expected: 'directly, requests in flight and new connections to that pod may fail; behind NGINX no GET does',
  async run(subject, apps) {
    // Until then NGINX has only the Service, which may lead to the killed pod at each try.
    await subject.untilNamed(apps)
    return subject.underLoad(apps, judgeKill, async (mark) => {
      for (const app of apps) await subject.kill(serviceName(app), mark)
    })
  },
}

const drain: ClusterFault = {
  name: 'drain',
  title: '`kubectl drain` of a node, all apps under load',
  expected: 'no failed request, directly and behind NGINX',
  ofNode: true,
  run: (subject, apps) => subject.underLoad(apps, judgeNoLoss, (mark) => subject.drain(mark)),
}

const nodeLost: ClusterFault = {
  name: 'node-lost',
  title: 'a node that vanishes, all apps under load',
  expected: 'requests to that node may fail until its endpoints are gone, then none',
  ofNode: true,
  absent: ({ lost }) =>
    lost === undefined ? 'It needs --node NAME, --node-down COMMAND and --node-up COMMAND.' : undefined,
  async run(subject, apps) {
    await subject.occupyLostNode(apps)
    return subject.underLoad(apps, judgeLostNode, (mark) => subject.loseNode(mark))
  },
}

/** The rows of the matrix for clusters. What disturbs a whole node comes last. */
export const CLUSTER_FAULTS: readonly ClusterFault[] = [rollingUpdate, scaling, podKilled, nodeLost, drain]
