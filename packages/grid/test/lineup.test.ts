import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { canPin } from '@startgrid/machine/cores.ts'
import { processTree } from '@startgrid/machine/processes.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { APPS } from '../src/apps.ts'
import { startLineup } from '../src/lineup.ts'

/** The cores that the threads of a process may use, as the kernel writes them. */
function coresOf(pid: number): string[] {
  const threads = readdirSync(`/proc/${pid}/task`)
  const statuses = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))
  return [...new Set(statuses.map((status) => /^Cpus_allowed_list:\s+(\S+)$/m.exec(status)?.[1] ?? ''))]
}

test('without a module of TLS there is no nginx-tls, and the other topologies are there', async () => {
  const found = await findNginx()
  if (found.kind === 'none') return
  const app = APPS.find(({ name }) => name === 'node/hello') ?? APPS[0]
  const nginx = { ...found, tls: { missing: 'ngx_http_v2_module' } }
  const topologies = ['nginx', 'nginx-tls'] as const
  const lineup = await startLineup({ apps: app === undefined ? [] : [app], topologies, nginx })
  try {
    deepEqual([...lineup.failures], [['nginx-tls', 'this NGINX was built without ngx_http_v2_module']])
    notEqual(app && lineup.target(app, 'nginx'), undefined)
    equal(app && lineup.target(app, 'nginx-tls'), undefined)
  } finally {
    await lineup.stop()
  }
})

const skip = !canPin() && 'needs Linux and taskset'

test('apps that started on all cores stay on one, with all their threads', { skip }, async () => {
  const [cpu = 0] = coresOf(process.pid).map((list) => Number.parseInt(list, 10))
  const apps = APPS.filter(({ role, runtime }) => role === 'hello' && runtime !== 'nginx').slice(0, 2)
  const lineup = await startLineup({ apps, topologies: ['direct'], nginx: undefined, cpu })
  try {
    equal(lineup.failures.size, 0)
    for (const app of apps) {
      const pid = lineup.launched(app, 'direct')?.ready.pid
      notEqual(pid, undefined)
      deepEqual(processTree(pid ?? 0).map(coresOf), [[String(cpu)]])
    }
  } finally {
    await lineup.stop()
  }
})
