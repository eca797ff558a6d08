import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { type MainOptions, renderMain, renderTemporaryPaths } from '../src/render/render.ts'
import { isRunning } from '../src/run/master.ts'
import { ANY, addressOf, app, exchange, frontOf, makeDirectory, request, skip, start } from './support.ts'

/** How an NGINX starts, stops and ends. */

async function gone(pids: readonly number[]): Promise<void> {
  while (pids.some(isRunning)) await sleep(20)
}

describe('lifecycle', { skip }, () => {
  const startFront = (more: Partial<Parameters<typeof start>[0]> = {}) =>
    start({ fronts: [frontOf(app.address)], ...more })

  test('stop finishes what is in flight, takes nothing new, and leaves nothing', async () => {
    const instance = await startFront()
    const address = addressOf(instance)
    const pids = instance.pids()
    const response = request(address, '/slow')
    while (app.seen.at(-1)?.url !== '/slow') await sleep(5)
    const stopped = instance.stop()
    const isTaken = () =>
      request(address, '/ceiling').then(
        () => true,
        () => false,
      )
    while (await isTaken()) await sleep(5)
    app.release()
    assert.equal((await response).status, 200)
    await stopped
    await gone(pids)
    assert.deepEqual([existsSync(instance.dir), instance.pids()], [false, []])
    await instance.stop()
    await instance.exited
  })

  test('past its deadline stop cuts off the rest', async () => {
    const instance = await startFront()
    const earlier = app.seen.length
    const response = exchange(addressOf(instance), 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n').catch(() => 'cut')
    while (app.seen.length === earlier) await sleep(5)
    const pids = instance.pids()
    await instance.stop(50)
    await gone(pids)
    await response
    app.release()
  })

  test('a taken port is one sentence', async () => {
    const { port } = app.address
    const message = `Something else listens on 127.0.0.1:${port}: stop it, or choose another port.`
    await assert.rejects(start({ fronts: [frontOf(app.address, { listen: { ...ANY, port } })] }), { message })
  })

  test('a refused configuration is one sentence, and leaves no process, also if its log goes to standard output', async () => {
    const dirs: string[] = []
    const config = (main: MainOptions) => {
      dirs.push(main.dir)
      return [renderMain(main), `http { ${renderTemporaryPaths(main.dir)}`, 'nonsense on; }'].join('\n')
    }
    const message = /^NGINX refuses its configuration: unknown directive "nonsense" in \S+nginx\.conf:\d+\.$/
    await assert.rejects(start({ config, listen: [], output: 'inherit' }), { message })
    const isLeft = (file: string) => {
      try {
        return dirs.some((dir) => readFileSync(file, 'utf8').includes(dir))
      } catch {
        return false // it has ended
      }
    }
    while (globSync('/proc/[0-9]*/cmdline').some(isLeft)) await sleep(20)
  })

  test('ends with its parent, even if that is killed', async () => {
    const script = `
      import { frontOf, start } from ${JSON.stringify(import.meta.resolve('./support.ts'))}
      const instance = await start({ fronts: [frontOf({ host: '127.0.0.1', port: 9 })] })
      console.log(JSON.stringify({ pids: instance.pids(), dir: instance.dir }))`
    const { child } = startNode(['--input-type=module', '--eval', script])
    const { pids, dir } = JSON.parse((await once(child.stdout, 'data'))[0]) as { pids: number[]; dir: string }
    assert.ok(pids.length >= 2 && pids.every(isRunning))
    child.kill('SIGKILL')
    await gone(pids)
    await rm(dir, { recursive: true, force: true })
  })

  test('workers do not outlive a master that is killed', async () => {
    const instance = await startFront({ workers: 2 })
    const [master = 0, ...workers] = instance.pids()
    process.kill(master, 'SIGKILL')
    const { code, signal } = await instance.exited
    assert.ok(code !== 0 || signal === 'SIGKILL')
    await gone(workers)
  })

  test('pins master and workers', { skip: process.platform !== 'linux' && 'Linux only' }, async () => {
    const instance = await startFront({ cpus: '0', workers: 2 })
    for (const pid of instance.pids()) {
      const text = execFileSync('taskset', ['--cpu-list', '--pid', String(pid)], { encoding: 'utf8' })
      assert.match(text, /: 0$/m)
    }
  })

  test('the access log is JSON, without probes', async () => {
    const log = join(makeDirectory('startgrid-log-'), 'access.log')
    const instance = await startFront({ accessLog: `${log} startgrid if=$logged` })
    const address = addressOf(instance)
    for (const target of ['/livez', '/readyz?x', '/ceiling']) await request(address, target)
    await request(address, '/json?"quoted"', { headers: ['x-request-id: logged-1'] })
    await request(address, '/%zz')
    await instance.stop()
    const lines = readFileSync(log, 'utf8').trim().split('\n')
    const [first, second, ...others] = lines.map((line) => {
      const { requestId, path, status, upstreamStatus } = JSON.parse(line)
      return [requestId, path, status, upstreamStatus]
    })
    assert.deepEqual(first, ['logged-1', '/json', 200, '200'])
    assert.deepEqual(second?.slice(1), ['GET /%zz HTTP/1.1', 400, ''])
    assert.deepEqual(others, [])
  })
})
