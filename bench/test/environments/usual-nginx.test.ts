import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { assignNginx } from '../../src/environments/usual-nginx.ts'
import type { Study, System } from '../../src/model/experiment.ts'
import { measureOnPaper, PAPER } from '../fixtures/study-laboratory.ts'

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

const STUDY: Study = {
  ...PAPER,
  systems: {
    fast: njs('qjs'),
    slow: njs('njs'),
    wide: { title: 'app', app: { package: 'apps/node', role: 'hello' } },
  },
}

function assigned(usual: Nginx | undefined) {
  const { cells } = measureOnPaper({ fast: [2, 2], slow: [1, 1], wide: [1, 1] }, STUDY)
  assignNginx(STUDY, cells, usual)
  return cells.map(({ nginx: own, skipped }) => [own?.version, skipped])
}

test('cells that need an NGINX say which; QuickJS and the old engine run in one that has both', () => {
  deepEqual(assigned(NEW), [
    ['1.30.2', null],
    ['1.30.2', null],
    [undefined, null],
  ])
})

test('where nothing has QuickJS, or njs, or there is no NGINX, systems are skipped with the reason', () => {
  const [qjs, old] = assigned(OLD)
  match(String(qjs?.[1]), /^njs has no QuickJS here/)
  deepEqual(old, ['1.22.1', null])
  const [, without] = assigned(nginx('1.22.1', undefined))
  equal(without?.[1], 'NGINX has no njs module')
  deepEqual(assigned(undefined), [
    [undefined, 'there is no NGINX'],
    [undefined, 'there is no NGINX'],
    [undefined, null],
  ])
})
