import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { canPin } from '@startgrid/machine/cores.ts'
import { listenersOf, processTree } from '@startgrid/machine/processes.ts'
import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import { newCell } from '../../src/experiment/cells.ts'
import type { System } from '../../src/result/experiment.ts'
import { whyImpossible } from '../../src/servers/native/open.ts'
import { type Entrant, startSystems } from '../../src/servers/native/systems.ts'

/** The cores that the threads of a process may use, as the kernel writes them. */
function coresOf(pid: number): string[] {
  const threads = readdirSync(`/proc/${pid}/task`)
  const statuses = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))
  return [...new Set(statuses.map((status) => /^Cpus_allowed_list:\s+(\S+)$/m.exec(status)?.[1] ?? ''))]
}

const found = await findNginx()
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

test('systems with one launch key share an app and an NGINX, the others have their own; what ends is told', {
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
    const started = (await launches()).map((one) => one.app)
    deepEqual(started, ['node/hello', 'nginx', 'node/hello#2', 'study'])
    const endingsOf = (...ids: string[]) => Promise.all(ids.map((id) => running.get(id)?.whyEnded()))
    for (const pid of pidsOf('direct')) process.kill(pid, 'SIGKILL')
    while ((await endingsOf('direct'))[0] === null) await sleep(20)
    const ended = 'the app was ended by SIGKILL'
    deepEqual(await endingsOf('direct', 'behind', 'twin behind', 'study'), [ended, ended, null, null])
    for (const pid of pidsOf('twin behind')) process.kill(pid, 'SIGKILL')
    while ((await endingsOf('twin behind'))[0] === null) await sleep(20)
    deepEqual(await endingsOf('twin behind', 'study'), ['NGINX ended', null])
  } finally {
    await stop()
  }
})

function nginxOf(version: string, engine: 'njs' | 'qjs' | undefined): Nginx {
  const njs = engine && { version: '1.0.2', engine, module: undefined }
  return {
    kind: 'path',
    version,
    njs,
    keepaliveMinTimeout: true,
    http2: 'directive',
    path: '/usr/sbin/nginx',
    describe: () => version,
  }
}

test('where nothing has QuickJS, or njs, or there is no NGINX, systems are skipped with the reason', () => {
  const [older, newer] = [nginxOf('1.22.1', 'njs'), nginxOf('1.30.2', 'qjs')]
  const plain: System = { title: 'app', app }
  const njs = (engine: 'njs' | 'qjs'): System => ({
    title: engine,
    app: { package: 'apps/njs', role: 'hello', env: { NJS_ENGINE: engine } },
  })
  for (const system of [njs('qjs'), njs('njs'), plain]) equal(whyImpossible(system, newer), null)
  equal(whyImpossible(plain, undefined), null)
  equal(whyImpossible(njs('njs'), older), null)
  match(whyImpossible(njs('qjs'), older) ?? '', /^njs has no QuickJS here/)
  equal(whyImpossible(njs('njs'), nginxOf('1.22.1', undefined)), 'NGINX has no njs module')
  equal(whyImpossible(njs('njs'), undefined), 'there is no NGINX')
  equal(whyImpossible({ ...plain, nginx: proxy }, undefined), 'there is no NGINX')
})
