import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { canPin } from '@startgrid/machine/cores.ts'
import { listenersOf, processTree } from '@startgrid/machine/processes.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { newCell } from '../../../src/experiment/cells.ts'
import type { System } from '../../../src/result/experiment.ts'
import { type Entrant, startSystems } from '../../../src/servers/native/systems.ts'

/** The cores that the threads of a process may use, as the kernel writes them. */
function coresOf(pid: number): string[] {
  const threads = readdirSync(`/proc/${pid}/task`)
  const statuses = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))
  return [...new Set(statuses.map((status) => /^Cpus_allowed_list:\s+(\S+)$/m.exec(status)?.[1] ?? ''))]
}

const found = await findNginx({ download: false })
const nginx = found.kind === 'none' ? undefined : found
const app = { package: 'apps/node', role: 'hello' }
const proxy = { front: 'nginx' } as const
const cpu = coresOf(process.pid).map((list) => Number.parseInt(list, 10))[0] ?? 0

/** @param key of its launch, as the grid has one */
function entrantOf(id: string, own: Partial<System>, key?: string): Entrant {
  const cell = newCell({ id, race: 'hello', app: key ?? id, topology: own.nginx ? 'nginx' : 'direct' })
  const system = { title: id, app, ...(key !== undefined && { launch: key }), ...own }
  return { cell, system, nginx, cpus: String(cpu) }
}

const skip = !canPin() && 'needs Linux and taskset'

test('apps that started on all cores stay on theirs, with all their threads', { skip }, async () => {
  const entrants = [entrantOf('one', {}), entrantOf('two', {})]
  const { running, failures, stop } = await startSystems(entrants, null)
  try {
    equal(failures.size, 0)
    for (const { target } of running.values()) {
      const pids = listenersOf(target).flatMap(processTree)
      deepEqual([...new Set(pids.flatMap(coresOf))], [String(cpu)])
    }
    equal(running.size, 2)
  } finally {
    await stop()
  }
})

test('systems with one launch key share an app and an NGINX, the others have their own', {
  skip: nginx === undefined && found.describe(),
}, async () => {
  const entrants = [
    entrantOf('direct', {}, 'node/hello'),
    entrantOf('behind', { nginx: proxy }, 'node/hello'),
    entrantOf('twin behind', { nginx: proxy }, 'node/hello#2'),
    entrantOf('study', { nginx: proxy }),
  ]
  const { running, launches, stop } = await startSystems(entrants, null)
  try {
    const pidsOf = (id: string) => {
      const target = running.get(id)?.target
      return target === undefined ? [] : listenersOf(target).toSorted()
    }
    deepEqual(pidsOf('behind'), pidsOf('twin behind'))
    notEqual(pidsOf('behind').length, 0)
    notEqual(String(pidsOf('study')), String(pidsOf('behind')))
    const started = await launches(entrants.map(({ cell }) => cell))
    deepEqual(
      started.map((one) => one.app),
      ['node/hello', 'nginx', 'node/hello#2', 'study'],
    )
  } finally {
    await stop()
  }
})

test('without an NGINX, or with an app that ends, the other systems start', async () => {
  const broken = { app: { package: 'apps/node', role: 'nothing' } }
  const entrants = [
    entrantOf('direct', {}, 'node/hello'),
    { ...entrantOf('behind', { nginx: proxy }, 'node/hello'), nginx: undefined },
    entrantOf('broken', broken),
  ]
  const { running, failures, stop } = await startSystems(entrants, null)
  try {
    deepEqual([...running.keys()], ['direct'])
    equal(failures.get('behind'), 'it did not start: there is no NGINX')
    equal(failures.get('broken')?.startsWith('it did not start: node/nothing ended with 1'), true)
  } finally {
    await stop()
  }
})
