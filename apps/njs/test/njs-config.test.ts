import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { StartError } from '#shared/process/config.ts'
import { readNjsConfig, withEngine } from '../runner/njs-config.ts'

test('one worker and the better engine, unless told otherwise', () => {
  deepEqual(readNjsConfig({}), { workers: 1, engine: undefined })
  deepEqual(readNjsConfig({ NJS_WORKERS: '64', NJS_ENGINE: 'qjs' }), { workers: 64, engine: 'qjs' })
})

test('what is not allowed is named with its value', () => {
  for (const NJS_WORKERS of ['0', '65', '1.5', '', 'auto'])
    throws(() => readNjsConfig({ NJS_WORKERS }), {
      name: 'StartError',
      message: `NJS_WORKERS is ${JSON.stringify(NJS_WORKERS)}, but must be a whole number from 1 to 64.`,
    })
  throws(
    () => readNjsConfig({ NJS_ENGINE: 'v8' }),
    /^StartError: NJS_ENGINE is "v8", but must be njs or qjs\.$/,
  )
})

test("an NGINX with QuickJS has njs's own engine as well, but not the other way round", () => {
  const nginx = (engine: 'njs' | 'qjs'): Nginx => ({
    kind: 'path',
    version: '1.30.0',
    njs: { version: '1.0.2', engine, module: undefined },
    keepaliveMinTimeout: true,
    http2: 'directive',
    binary: { path: '/usr/sbin/nginx', env: {} },
    describe: () => 'NGINX 1.30.0',
  })
  equal(withEngine(nginx('qjs'), 'njs').njs?.engine, 'njs')
  equal(withEngine(nginx('qjs'), undefined).njs?.engine, 'qjs')
  equal(withEngine(nginx('njs'), 'njs').njs?.engine, 'njs')
  throws(() => withEngine(nginx('njs'), 'qjs'), StartError)
})
