import { deepEqual, equal, match } from 'node:assert/strict'
import { globSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { claimPort } from '@startgrid/nginx/address.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { type Instance, startNginx } from '@startgrid/nginx/instance.ts'
import { createOptions } from '#shared/testing/app.ts'
import * as recipes from '../../../packages/shared/test/recipes.ts' // sets what the recipes read
import { renderConfig } from '../src/render.ts'

const APP = join(import.meta.dirname, '..')
const nginx = await findNginx()
const skip =
  nginx.kind === 'none' ? nginx.describe() : nginx.njs === undefined && `${nginx.describe()} has no njs`

/** What the text of a recipe has instead of the address of another service. */
const UPSTREAM = 'http://weather.example/'

describe(`on ${nginx.describe()}`, { skip }, () => {
  let instance: Instance
  let modules: string
  let url = ''
  const start = async () => ({ url, [Symbol.asyncDispose]: async () => {} })

  before(async () => {
    if (nginx.kind === 'none' || nginx.njs === undefined) return
    modules = await mkdtemp(join(tmpdir(), 'startgrid-njs-'))
    const { bundle } = await import(`../engines/${nginx.njs.engine}/bundle.ts`)
    for (const path of globSync(join(APP, 'recipes/*.ts')))
      writeFileSync(join(modules, `${basename(path, '.ts')}.js`), await bundle(path))
    const parts = globSync(join(APP, 'recipes/*.conf')).map((path) => readFileSync(path, 'utf8'))
    const routes = join(modules, 'recipes.conf')
    const { SESSION_SECRET, UPSTREAM_URL } = recipes.SETTINGS
    process.env.SESSION_SECRET = SESSION_SECRET
    const upstream = UPSTREAM_URL.replace('127.0.0.1', 'localhost') // a name, as people have
    writeFileSync(routes, parts.join('\n').replace(UPSTREAM, upstream))
    const address = { host: '127.0.0.1', port: await claimPort({ host: '127.0.0.1', port: 0 }) }
    const config = { ...createOptions().config, PORT: address.port, LOG_LEVEL: 'warn' } as const
    process.env.TRUST_PROXY = 'loopback'
    instance = await startNginx(nginx, {
      config: (main) => {
        symlinkSync(join(APP, 'public'), join(main.dir, 'public'))
        return `env SESSION_SECRET;\n${renderConfig({ nginx, config, routes, modules }, main)}`
      },
      listen: [address],
    })
    url = `http://127.0.0.1:${address.port}`
  })

  after(async () => {
    await instance?.stop()
    rmSync(modules, { recursive: true })
  })

  recipes.testBody(start)
  recipes.testSession(start)
  recipes.testStatic(APP, start)
  recipes.testRelay(start, ['reset'], 0) // a status of 999 is passed on
  recipes.testSecondPage(start)

  test('events: go on after the last one that a client knows; HEAD ends at once', async () => {
    const response = await fetch(`${url}/events`, { headers: { 'last-event-id': '6' } })
    equal(response.headers.get('content-type'), 'text/event-stream')
    match(await response.text(), /id: 7\n/)
    equal((await fetch(`${url}/events`, { method: 'HEAD' })).status, 200)
  })

  test('upload: takes a file of more than 64 KiB; one that is too large is 413', async () => {
    const send = (size: number) => fetch(`${url}/uploads`, { method: 'POST', body: 'x'.repeat(size) })
    const taken = await send(100_000)
    deepEqual([taken.status, await taken.json()], [201, { size: 100_000 }])
    equal((await send(3_000_000)).status, 413)
  })
})
