import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Lease, V1Pod } from '@kubernetes/client-node'
import { removeLeftovers } from '../../../src/environments/kubernetes/run.ts'

/** A cluster with one Lease of a run that lives and one of a run that was killed, each with two pods. */
function createCluster() {
  let looks = 0
  const leases = new Map(['bench-alive', 'bench-dead'].map((name) => [name, name]))
  const pods = new Map<string, string>(
    [...leases.keys()].flatMap((run) => [1, 2].map((n) => [`${run}-${n}`, run] as const)),
  )
  return {
    pods,
    leases: async (): Promise<V1Lease[]> => {
      looks++
      return [...leases.keys()].map((name) => ({
        metadata: { name, resourceVersion: name === 'bench-alive' ? String(looks) : '7' },
        spec: { holderIdentity: '4711@laptop' },
      }))
    },
    podsWith: async (selector: string): Promise<V1Pod[]> =>
      [...pods].flatMap(([name, run]) =>
        selector === `startgrid.dev/bench=${run}` ? { metadata: { name } } : [],
      ),
    removeLease: async (name: string) => void leases.delete(name),
    removePod: async (name: string) => void pods.delete(name),
    names: leases,
  }
}

test('what a killed run left is removed, with a sentence; a living run is not touched', async () => {
  const cluster = createCluster()
  const said: string[] = []
  const { signal } = new AbortController()
  await removeLeftovers(cluster, { say: (text) => said.push(text), signal, leaseSeconds: 1 })
  assert.deepEqual([...cluster.names.keys()], ['bench-alive'])
  assert.deepEqual([...cluster.pods.keys()], ['bench-alive-1', 'bench-alive-2'])
  assert.deepEqual(said, [
    'There are 2 other runs in this namespace: looking for up to 1 s whether they are alive.',
    'Removed what a run left that ended without clearing up: 2 pods of bench-dead (process 4711@laptop).',
  ])
})

test('a namespace without other runs takes no time', async () => {
  const cluster = { ...createCluster(), leases: async () => [] }
  const say = () => assert.fail('there is nothing to say')
  await removeLeftovers(cluster, { say, signal: new AbortController().signal })
  assert.equal(cluster.pods.size, 4)
})
