import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { describeThrottling } from '../../../src/environments/kubernetes/servers.ts'
import {
  containerIds,
  judgeContainers,
  refuseMissingImage,
  refuseUnscheduled,
} from '../../../src/environments/kubernetes/start.ts'

function status(name: string, one: Partial<V1ContainerStatus>): V1ContainerStatus {
  return {
    ...{ name, image: `startgrid/${name}:v1`, imageID: 'sha256:1', ready: false, restartCount: 0 },
    ...one,
  }
}

function podWith(...containerStatuses: V1ContainerStatus[]): V1Pod {
  return { spec: { nodeName: 'node1', containers: [] }, status: { phase: 'Running', containerStatuses } }
}

const ended = (exitCode: number, message?: string, reason = 'Error') => ({
  terminated: { exitCode, reason, ...(message !== undefined && { message }) },
})

describe('containers', () => {
  test('run once their startup probe has passed', () => {
    const { ready, failures } = judgeContainers(
      podWith(
        status('node', { started: true, state: { running: {} } }),
        status('koa', { started: false, state: { running: {} } }),
      ),
    )
    assert.deepEqual([...ready.keys()], ['node'])
    assert.equal(failures.size, 0)
  })

  test('that ended say with what, and what they wrote last', () => {
    const { failures } = judgeContainers(
      podWith(
        status('node', { state: ended(1, 'some lines\nPORT is "x", but must be a number.\n') }),
        status('koa', { state: ended(137, undefined, 'OOMKilled') }),
        status('bun', { state: { waiting: { reason: 'CreateContainerError', message: 'no command' } } }),
      ),
    )
    assert.deepEqual(
      [...failures],
      [
        ['node', 'it ended with exit code 1: PORT is "x", but must be a number.'],
        ['koa', 'it ran out of the memory that its limit allows'],
        ['bun', 'no command'],
      ],
    )
  })

  test('of which an end is expected are ready when they have ended well', () => {
    const pod = podWith(status('node', { state: ended(0) }), status('nginx', { state: ended(2) }))
    const { ready, failures } = judgeContainers(pod, ['node', 'nginx'])
    assert.deepEqual([[...ready.keys()], [...failures.keys()]], [['node'], ['nginx']])
  })

  test('are known by their ids without the name of the runtime', () => {
    assert.deepEqual(containerIds([status('node', { containerID: 'containerd://0123abcd' })]), {
      node: '0123abcd',
    })
  })
})

test('an image that a node cannot pull is named in one sentence', () => {
  const pod = podWith(status('koa', { state: { waiting: { reason: 'ImagePullBackOff' } } }))
  assert.throws(() => refuseMissingImage(pod), {
    name: 'KubernetesError',
    message: /^The node node1 has no image startgrid\/koa:v1 and cannot pull it: [^.]*README\.md[^.]*\.$/,
  })
  refuseMissingImage(podWith(status('koa', { state: { waiting: { reason: 'ContainerCreating' } } })))
})

test('a pod that no node takes is refused with what the scheduler says, but not at once', () => {
  const message =
    "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/2 nodes are available"
  const pod: V1Pod = {
    metadata: { labels: { 'app.kubernetes.io/component': 'generator' } },
    spec: { containers: [] },
    status: { conditions: [{ type: 'PodScheduled', status: 'False', message }] },
  }
  refuseUnscheduled(pod, 1000)
  assert.throws(() => refuseUnscheduled(pod, 60_000), {
    message:
      "No node takes a generator: 0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
  })
})

test('a load that a CPU limit stopped does not count', () => {
  assert.match(
    describeThrottling({ throttled: 0.0123 }) ?? '',
    /^a CPU limit stopped the servers for 12\.3 ms; /,
  )
  assert.equal(describeThrottling({ throttled: 0 }), undefined)
  assert.equal(describeThrottling({ throttled: null }), undefined)
})
