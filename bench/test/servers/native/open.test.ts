import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { System } from '../../../src/result/experiment.ts'
import { whyImpossible } from '../../../src/servers/native/open.ts'

function nginx(version: string, engine: 'njs' | 'qjs' | undefined): Nginx {
  const njs = engine && { version: '1.0.2', engine, module: undefined }
  return {
    kind: 'path',
    version,
    njs,
    keepaliveMinTimeout: true,
    http2: 'directive',
    binary: { path: '/usr/sbin/nginx', env: {} },
    describe: () => version,
  }
}

const OLD = nginx('1.22.1', 'njs')
const NEW = nginx('1.30.2', 'qjs')

const njs = (engine: 'njs' | 'qjs'): System => ({
  title: engine,
  app: { package: 'apps/njs', role: 'hello', env: { NJS_ENGINE: engine } },
})

const APP: System = { title: 'app', app: { package: 'apps/node', role: 'hello' } }

test('QuickJS and the old engine run in an NGINX that has both, and an app needs none', () => {
  for (const system of [njs('qjs'), njs('njs'), APP]) equal(whyImpossible(system, NEW), null)
  equal(whyImpossible(APP, undefined), null)
})

test('where nothing has QuickJS, or njs, or there is no NGINX, systems are skipped with the reason', () => {
  match(whyImpossible(njs('qjs'), OLD) ?? '', /^njs has no QuickJS here/)
  equal(whyImpossible(njs('njs'), OLD), null)
  equal(whyImpossible(njs('njs'), nginx('1.22.1', undefined)), 'NGINX has no njs module')
  equal(whyImpossible(njs('njs'), undefined), 'there is no NGINX')
  equal(whyImpossible({ ...APP, nginx: { front: 'nginx' } }, undefined), 'there is no NGINX')
})
