import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { claimPort } from '../src/render/address.ts'
import { nginx, skip } from './support/nginx.ts'
import { request } from './support/raw.ts'
import { type App, startApp } from './support/upstream.ts'

interface Result {
  code: number
  out: string
  err: string
}

describe('cli', { skip }, () => {
  let runtime: string
  let app: App

  before(async () => {
    runtime = await mkdtemp(join(tmpdir(), 'startgrid-cli-'))
    app = await startApp()
  })
  after(async () => {
    await cli('stop')
    await app.close()
    await rm(runtime, { recursive: true, force: true })
  })

  async function cli(...args: string[]): Promise<Result> {
    const env = { ...process.env, XDG_RUNTIME_DIR: runtime }
    const script = join(import.meta.dirname, '..', 'src', 'cli.ts')
    const { code, stdout, stderr } = await startNode([script, ...args], { env }).ended
    return { code: Number(code), out: stdout, err: stderr }
  }

  test('nothing runs', async () => {
    assert.deepEqual(await cli('status'), { code: 3, out: 'NGINX is not running.\n', err: '' })
    const start = { code: 1, out: '', err: 'NGINX is not running; start it with pnpm nginx start.\n' }
    assert.deepEqual(await cli('workers', '2'), start)
  })

  test('start, status, workers, reload, stop', async () => {
    const listen = { host: '127.0.0.1', port: await claimPort({ host: '127.0.0.1', port: 0 }) }
    const apps = [`127.0.0.1:${app.address.port}`, '127.0.0.1:9']
    const where = ['--listen', `127.0.0.1:${listen.port}`, ...apps.flatMap((one) => ['--upstream', one])]
    const started = await cli('start', ...where, '--workers', '2')
    assert.deepEqual([started.code, started.err], [0, ''])
    const route = `http://127.0.0.1:${listen.port} to ${apps.join(' and ')}`
    assert.equal(started.out, `Started ${nginx?.describe()}: ${route}.\n`)
    // The second is not there, so the first stands in.
    for (let turn = 0; turn < 3; turn++) assert.equal((await request(listen, '/json')).status, 200)

    const again = await cli('start', ...where)
    assert.equal(again.code, 1)
    assert.match(again.err, /^NGINX is running already: .* Stop it first with pnpm nginx stop\.\n$/)

    const three = 'NGINX serves with 3 workers now; no request was dropped.\n'
    assert.deepEqual(await cli('workers', '3'), { code: 0, out: three, err: '' })
    assert.match((await cli('status')).out, /\nMaster process \d+, workers \d+, \d+, \d+; files and /)
    const reloaded = 'Reloaded, with the configuration files as they are now; no request was dropped.\n'
    assert.deepEqual(await cli('reload'), { code: 0, out: reloaded, err: '' })
    assert.equal((await request(listen, '/json')).status, 200)

    const stopped = await cli('stop')
    assert.match(stopped.out, /^Stopped NGINX .*; every request in flight got its response\.\n$/)
    assert.equal((await cli('status')).code, 3)
    await assert.rejects(request(listen, '/json'), { failure: 'refused' })
  })

  test('one that was killed is not running, and does not stand in the way', async () => {
    const dead = ['--listen', '127.0.0.1:0', '--upstream', '127.0.0.1:9']
    const first = await cli('start', ...dead)
    const listen = /http:\/\/([\d.:]+) to/.exec(first.out)?.[1] ?? ''
    const pid = Number(await readFile(join(runtime, 'startgrid-nginx', 'nginx.pid'), 'utf8'))
    process.kill(pid, 'SIGKILL')
    while ((await cli('status')).code !== 3);
    let second = await cli('start', '--listen', listen, '--upstream', '127.0.0.1:9')
    // The workers that were left behind take a moment to go.
    while (second.code === 1 && second.err.startsWith('Something else listens')) {
      second = await cli('start', '--listen', listen, '--upstream', '127.0.0.1:9')
    }
    assert.deepEqual([second.code, second.err], [0, ''])
    await cli('stop')
  })

  test('what is not understood: exit code 2 and what is right', async () => {
    for (const [args, message] of [
      [['restart'], 'There is no command "restart": start, status, reload, workers N or stop.'],
      [['workers', 'many'], '"many" is not a number of workers; give 1 to 256.'],
      [['start', '--key', 'k.pem'], 'Only nginx-tls has a certificate: add --topology nginx-tls.'],
    ] as const)
      assert.deepEqual(await cli(...args), { code: 2, out: '', err: `${message}\n` })
    const trusted = await cli('start', '--listen', '127.0.0.1:0', '--trust', '10.0.0.0/8,x')
    assert.equal(trusted.code, 1)
    assert.match(trusted.err, /^NGINX refuses its configuration: invalid network "x" .*\.\n$/)
  })
})
