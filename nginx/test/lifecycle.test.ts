import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { jsEngine, loadModule, type Nginx } from '../src/find/find.ts'
import { type Address, claimPort } from '../src/render/address.ts'
import { type MainOptions, renderMain, renderNginx, renderTemporaryPaths } from '../src/render/render.ts'
import { type Instance, startNginx } from '../src/run/instance.ts'
import { standardOutput } from '../src/run/launch.ts'
import { testConfig } from '../src/run/master.ts'
import { isRunning } from '../src/run/processes.ts'
import { nginx, skip } from './support/nginx.ts'
import { exchange, request } from './support/raw.ts'
import { type App, startApp } from './support/upstream.ts'

const ANY = { host: '127.0.0.1', port: 0 }

function addressOf(instance: Instance, index = 0): Address {
  const address = instance.addresses[index]
  if (address === undefined) throw new Error(`no front ${index}`)
  return address
}

async function gone(pids: readonly number[]): Promise<void> {
  while (pids.some(isRunning)) await sleep(20)
}

function commandLines(): string[] {
  return globSync('/proc/[0-9]*/cmdline').map((file) => {
    try {
      return readFileSync(file, 'utf8')
    } catch {
      return '' // it has ended
    }
  })
}

/** Requests from one client until told to stop, as a browser sends them: again, if a kept connection was closed on it. */
async function client(
  address: Address,
  agent: Agent,
  stopped: () => boolean,
  outcomes: string[],
): Promise<void> {
  while (!stopped()) {
    outcomes.push(await outcomeOf(address, agent))
    await sleep(1)
  }
}

function outcomeOf(address: Address, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const outgoing = get({ ...address, agent, path: '/json' }, (response) => {
      response.resume()
      response.once('end', () => resolve(`${response.statusCode}`))
      response.once('error', (error) => resolve(String(error)))
    })
    // RFC 9112, 9.3.1: a client sends an idempotent request again that a kept connection was closed on.
    outgoing.once('error', (error: NodeJS.ErrnoException) =>
      resolve(outgoing.reusedSocket && error.code === 'ECONNRESET' ? 'closed' : String(error)),
    )
  })
}

describe('lifecycle', { skip }, () => {
  let app: App
  let found: Nginx

  before(async () => {
    if (nginx === undefined) return
    found = nginx
    app = await startApp()
  })
  after(() => app?.close())

  const front = (listen: Address = ANY) =>
    ({ name: 'app', topology: 'nginx', listen, upstream: app.address }) as const

  test('reloads and changes of workers drop no request', async () => {
    const listen = { ...ANY, port: await claimPort(ANY) }
    const { keepaliveMinTimeout } = found
    const withWorkers = (workers: number) => (main: MainOptions) =>
      renderNginx({ ...main, workers, keepaliveMinTimeout, fronts: [front(listen)] })
    const instance = await startNginx(found, { config: withWorkers(2), listen: [listen] })
    const outcomes: string[] = []
    let over = false
    const agents = [true, true, true, false, false].map((keepAlive) => new Agent({ keepAlive }))
    const clients = agents.map((agent) => client(addressOf(instance), agent, () => over, outcomes))
    try {
      for (const count of [3, 1, 2]) {
        const [master, ...workers] = instance.pids()
        await instance.reload(withWorkers(count))
        const [sameMaster, ...now] = instance.pids()
        assert.equal(sameMaster, master)
        assert.ok(now.filter((pid) => !workers.includes(pid)).length === count)
        const earlier = outcomes.length
        while (outcomes.length < earlier + 50) await sleep(5)
      }
    } finally {
      // A failure would leave them asking, and this file running, for ever.
      over = true
      await Promise.all(clients)
      for (const agent of agents) agent.destroy()
      await instance.stop()
    }
    // keepalive_min_timeout closes the race; NGINX before 1.27.4 leaves it to the client.
    const allowed = found.keepaliveMinTimeout ? ['200'] : ['200', 'closed']
    assert.deepEqual(
      outcomes.filter((outcome) => !allowed.includes(outcome)),
      [],
    )
  })

  test('a configuration that is refused leaves the old one in use', async () => {
    const instance = await startNginx(found, { fronts: [front()] })
    await assert.rejects(instance.reload(rawConfig(found, 'nonsense on;')), /unknown directive "nonsense"/)
    assert.equal((await request(addressOf(instance), '/json')).status, 200)
    await instance.stop()
  })

  test('stop finishes what is in flight, takes nothing new, and leaves nothing', async () => {
    const instance = await startNginx(found, { fronts: [front()] })
    const address = addressOf(instance)
    const pids = instance.pids()
    const response = request(address, '/slow')
    while (app.seen.at(-1)?.url !== '/slow') await sleep(5)
    const stopped = instance.stop()
    while (await accepts(address)) await sleep(5)
    app.release()
    assert.equal((await response).status, 200)
    await stopped
    await gone(pids)
    assert.equal(existsSync(instance.dir), false)
    assert.deepEqual(instance.pids(), [])
    await instance.stop()
    await instance.exited
  })

  test('past its deadline stop cuts off the rest', async () => {
    const instance = await startNginx(found, { fronts: [front()] })
    const response = exchange(addressOf(instance), 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n').catch(() => 'cut')
    const earlier = app.seen.length
    while (app.seen.length === earlier) await sleep(5)
    const pids = instance.pids()
    await instance.stop(50)
    await gone(pids)
    await response
    app.release()
  })

  test('a taken port is one sentence, and so is a configuration that NGINX refuses', async () => {
    const { port } = app.address
    const message = `Something else listens on 127.0.0.1:${port}: stop it, or choose another port.`
    await assert.rejects(startNginx(found, { fronts: [front({ ...ANY, port })] }), { message })
    // A raw configuration may listen where nobody was told: then NGINX itself finds out.
    const config = rawConfig(found, `listen 127.0.0.1:${port};`)
    await assert.rejects(startNginx(found, { config, listen: [] }), { message })
    await assert.rejects(
      startNginx(found, { config: rawConfig(found, 'nonsense on;'), listen: [] }),
      /^Error: NGINX refuses its configuration: unknown directive "nonsense" in \S+nginx\.conf:\d+\.$/,
    )
  })

  test('a raw configuration with an njs handler runs, with its log on standard output', async (context) => {
    if (found.njs === undefined) return context.skip('this NGINX has no njs')
    const script = join(import.meta.dirname, 'support', 'njs-server.ts')
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const port = Number((await lines.next()).value)
    const response = await request({ host: '127.0.0.1', port }, '/who')
    assert.equal(response.body.toString(), found.njs.version)
    // Node's pipes are sockets, which NGINX cannot open by name as /dev/stdout.
    const logged: unknown = JSON.parse((await lines.next()).value ?? '')
    assert.deepEqual(logged, { url: '/who', status: 200 })
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  test('refused while its log goes to standard output, it leaves no process', async () => {
    if (!existsSync('/proc/self/cmdline')) return
    const dirs: string[] = []
    const config = (main: MainOptions) => {
      dirs.push(main.dir)
      return rawConfig(found, 'nonsense on;')(main)
    }
    for (let start = 0; start < 2; start++)
      await assert.rejects(startNginx(found, { config, listen: [], output: 'inherit' }), /nonsense/)
    const isLeft = (line: string) => dirs.some((dir) => line.includes(dir))
    while (commandLines().some(isLeft)) await sleep(20)
  })

  test('ends with its parent, even if that is killed', async () => {
    const script = join(import.meta.dirname, 'support', 'parent.ts')
    const parent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const line = await createInterface(parent.stdout)[Symbol.asyncIterator]().next()
    const { pids, dir } = JSON.parse(line.value ?? '') as { pids: number[]; dir: string }
    assert.ok(pids.length >= 2 && pids.every(isRunning))
    parent.kill('SIGKILL')
    await gone(pids)
    await rm(dir, { recursive: true, force: true })
  })

  test('workers do not outlive a master that is killed', async () => {
    const instance = await startNginx(found, { fronts: [front()], workers: 2 })
    const [master = 0, ...workers] = instance.pids()
    process.kill(master, 'SIGKILL')
    const { code, signal } = await instance.exited
    assert.ok(code !== 0 || signal === 'SIGKILL')
    await gone(workers)
    await assert.rejects(
      instance.reload(() => ''),
      /This NGINX has ended; start it again/,
    )
    await instance.stop()
  })

  test('pins master and workers', { skip: process.platform !== 'linux' && 'Linux only' }, async () => {
    const instance = await startNginx(found, { fronts: [front()], cpus: '0', workers: 2 })
    for (const pid of instance.pids()) {
      const text = execFileSync('taskset', ['--cpu-list', '--pid', String(pid)], { encoding: 'utf8' })
      assert.match(text, /: 0$/m)
    }
    await instance.stop()
  })

  test('the access log is JSON, without probes', async () => {
    const log = join(tmpdir(), `startgrid-log-${process.pid}`)
    const accessLog = `${log} startgrid if=$logged`
    const instance = await startNginx(found, { fronts: [front()], accessLog })
    const address = addressOf(instance)
    for (const target of ['/livez', '/readyz?x', '/ceiling']) await request(address, target)
    await request(address, '/json?"quoted"', { headers: ['x-request-id: logged-1'] })
    await request(address, '/%zz')
    await instance.stop()
    const text = readFileSync(log, 'utf8').trim().split('\n')
    const entries = text.map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepEqual(
      entries.map(({ reqId, path, status, upstreamStatus }) => ({ reqId, path, status, upstreamStatus })),
      [
        { reqId: 'logged-1', path: '/json', status: 200, upstreamStatus: '200' },
        { reqId: entries[1]?.reqId, path: 'GET /%zz HTTP/1.1', status: 400, upstreamStatus: '' },
      ],
    )
    await rm(log)
  })
})

test('a configuration is tested also if the reader of the log has ended', { skip }, async () => {
  if (nginx === undefined) return
  const dir = await mkdtemp(join(tmpdir(), 'startgrid-fifo-'))
  const main = { dir, workers: 1 }
  const log = standardOutput(main)
  execFileSync('mkfifo', [log])
  await writeFile(
    join(dir, 'next.conf'),
    rawConfig(nginx, `listen "unix:${dir}/socket"; access_log "${log}";`)(main),
  )
  const { code, stderr } = await testConfig({ dir, binary: nginx.binary }, 'next.conf')
  assert.equal(code, 0, stderr)
  await rm(dir, { recursive: true })
})

function rawConfig(nginx: Nginx, server: string) {
  return (main: MainOptions) =>
    [
      loadModule(nginx),
      renderMain(main),
      'http {',
      'access_log off; # the compiled-in one belongs to root',
      renderTemporaryPaths(main.dir),
      jsEngine(nginx),
      `server { ${server} }`,
      '}',
    ].join('\n')
}

function accepts(address: Address): Promise<boolean> {
  const socket = connect(address)
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}
