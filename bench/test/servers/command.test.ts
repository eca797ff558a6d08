import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createProgress } from '@startgrid/cli/progress.ts'
import { listen, newDirectory } from '@startgrid/cli/test-programs.ts'
import { Guard, MARK } from '@startgrid/machine/guard.ts'
import { findProcesses, listenersOf } from '@startgrid/machine/processes.ts'
import { claimPort } from '@startgrid/nginx/address.ts'
import { makeCertificate } from '@startgrid/nginx/certificate.ts'
import { type CommandServer, startCommand } from '@startgrid/servers/command.ts'
import { personsEnvironment, toolsOf } from '@startgrid/servers/program.ts'
import { ask } from '@startgrid/servers/request.ts'
import { newCell } from '../../src/experiment/cells.ts'
import { openCommands, usedBy, workersOf } from '../../src/servers/command/open.ts'
import { isHere, whySilent } from '../../src/servers/command/origin.ts'

const skip = process.platform === 'linux' ? false : 'only Linux has /proc, where processes are looked for'
const READY = { method: 'GET', path: '/', headers: {} }

const serve = (body: string, listen = 'process.env.PORT, process.env.HOST') =>
  `require('node:http').createServer((request, response) => { ${body} }).listen(${listen})`

const PROGRAMS: Readonly<Record<string, string>> = {
  'hello.js': serve('response.end("hello")'),
  'broken.js': serve('response.statusCode = 500; response.end("no database")'),
  'mortal.js': serve(
    'response.end(); if (request.url === "/end") process.stdout.write("\\x1b[31mthe end\\x1b[39m\\n", () => process.exit(3))',
  ),
  'stream.js': serve('response.write("data: 1")'),
  'threads.js': `const { Worker, isMainThread } = require('node:worker_threads'); if (isMainThread) { let left = 4
for (let n = 0; n < 4; n++) new Worker(__filename).once('message', () => { if (--left === 0) require('./hello.js') }) }
else { for (let n = 0; n < 2e8; n++) Math.sqrt(n); require('node:worker_threads').parentPort.postMessage(1); setInterval(() => {}, 1e6) }`,
  'late.js': serve('setTimeout(() => response.end(), 4000)'),
  'at.js': serve('response.end(process.argv[3] ?? "here")', '...eval(process.argv[2])'),
  'socket.js': `require('node:net').createServer(() => {}).listen('late.sock'); setTimeout(() => { process.argv[2] = '[process.env.PORT, process.env.HOST]'; require('./at.js') }, 4000)`,
  'shared.js': serve(
    'response.end("shared")',
    '{ port: Number(process.argv[2]), host: "127.0.0.1", reusePort: true }',
  ),
  'proxy.js': `const { createServer, connect } = require('node:net'); require('./shared.js'); createServer((one) => one.pipe(connect(process.argv[2])).pipe(one)).listen(process.env.PORT, process.env.HOST)`,
  'cluster.js': `const cluster = require('node:cluster'); if (cluster.isPrimary) for (let n = 0; n < 2; n++) cluster.fork(); else require('./shared.js')`,
  // As a daemon does: twice a process of its own, without the environment, and without what its parent had open.
  'daemon.js': `const { spawn } = require('node:child_process'); const { PORT, HOST, SERVER = './hello.js', LEFT = '2' } = process.env
if (LEFT === '0') require(SERVER)
else spawn('setsid', [process.execPath, __filename], { env: { PORT, HOST, SERVER, LEFT: String(LEFT - 1) }, detached: true, stdio: 'ignore' }).unref()`,
  'starting.js': `const from = Date.now(); ${serve('response.statusCode = Date.now() - from < 4000 ? 404 : 200; response.end()')}`,
  'taken.js': `${serve('', '0')}.once('listening', function () { require('node:http').createServer().listen(this.address().port) })`,
  'tls.js': `const pem = (name) => require('node:fs').readFileSync(process.env[name]); require('node:https').createServer({ key: pem('KEY'), cert: pem('CERT') }).listen(process.env.PORT)`,
  'deaf.js': `process.on('SIGTERM', () => {}); require('./hello.js'); require('node:child_process').spawn('sleep', ['600'], { detached: true })`,
  'loud.js': `require('./hello.js'); const line = Buffer.alloc(1 << 20, 'x'); let count = 0; (function write() { if (count++ < 64) process.stdout.write(line, write) })()`,
}

describe('a command as a server', { skip }, () => {
  const directory = newDirectory({ after })
  let guard: Guard
  let said: string[] = []

  before(() => {
    for (const [name, source] of Object.entries(PROGRAMS)) writeFileSync(join(directory, name), source)
    guard = new Guard()
  })
  after(() => guard.close())
  beforeEach(() => {
    said = []
  })
  const started: CommandServer[] = []
  afterEach(async () => {
    for (const server of started.splice(0)) await server.stop()
  })
  const left = () => findProcesses({ groups: [], mark: `${MARK}=${guard.run}.` })
  /** It is stopped after the test. */
  const start = async (
    line: string,
    readyTimeoutMs: number | null = 60_000,
    signal = new AbortController().signal,
  ): Promise<CommandServer> => {
    const tell = (text: string) => void said.push(text)
    const server = await startCommand(
      { command: line, directory, ready: READY, ...(readyTimeoutMs !== null && { readyTimeoutMs }) },
      { guard, cpus: undefined, signal, graceMs: 500, tell, isElsewhere: tell },
    )
    started.push(server)
    return server
  }

  for (const [name, line] of [
    ['below shells', `sh -c "sh -c 'node hello.js'; exit 1"`],
    ['in a session of its own', 'setsid node hello.js & exit 0'],
    ['loud', 'node loud.js'],
    [
      'without its environment',
      'env -i "$(command -v setsid)" "$(command -v node)" -e "process.env.PORT=$PORT; require(\'./hello.js\')" & exit 0',
    ],
    ['a daemon', 'node daemon.js'],
  ] as const)
    test(`${name}: it responds on its port, is accounted for, and nothing is left`, async () => {
      const server = await start(line)
      assert.equal((await ask(server.target, READY, 60_000)).body.toString(), 'hello')
      assert.equal(server.whyEnded(), undefined)
      assert.ok(server.startup > 0 && !server.isElsewhere && (server.readyMemory ?? 0) > 10e6)
      assert.deepEqual(new Set(server.pids()), new Set([...left(), ...listenersOf(server.target)]))
      await server.stop()
      assert.deepEqual([left(), listenersOf(server.target)], [[], []])
    })

  for (const file of ['shared.js', 'cluster.js', 'proxy.js'])
    test(`two of ${file} at one place are refused: each would get requests of the other`, async () => {
      const port = await claimPort({ host: '127.0.0.1', port: 0 })
      const line = `'${process.execPath}' ${file}`
      await start(`${line} ${port}`)
      await assert.rejects(start(`${line} ${port}`), {
        message: new RegExp(
          `^it shares port ${port} with [\\w-]+ \\(process \\d+\\), and each gets requests of the other: systems of`,
        ),
      })
    })

  test('one that listens at ::1 is not taken for another one on the same port of 127.0.0.1, nor the reverse', async () => {
    const port = await claimPort({ host: '127.0.0.1', port: 0 })
    const one = await start(`node at.js "[${port}, '127.0.0.1']" one`)
    const two = await start(`node at.js "[${port}, '::1']" two`)
    const bodies = [one, two].map(async ({ target }) => (await ask(target, READY, 60_000)).body.toString())
    assert.deepEqual(await Promise.all(bodies), ['one', 'two'])
    assert.ok(one.isElsewhere && two.isElsewhere)
  })

  test('a single program takes the place of the shell, so that it gets its signals', async () => {
    for (const [line, isShell] of [
      ['node hello.js', false],
      ['A=1 node hello.js', false],
      ['A=1 exec node hello.js', false],
      ['true; node hello.js; true', true],
    ] as const) {
      const { launched } = await start(line)
      const name = readFileSync(`/proc/${launched.groups[0]}/comm`, 'utf8').trim()
      assert.equal(!/^node|^MainThread/.test(name), isShell, `${line}: ${name}`)
    }
  })

  test('threads that worked are counted, but not what was idle since it was ready', async () => {
    const server = await start('node threads.js & sleep 600')
    const pids = server.pids()
    assert.ok(workersOf(pids).threads >= 4)
    const before = usedBy(pids)
    const isLoaded = () => workersOf(pids, before).threads === 1
    while (!isLoaded()) await ask(server.target, READY, 60_000)
    assert.deepEqual(workersOf(pids, before), { processes: 1, threads: 1 })
  })

  test('one that ignores SIGTERM is killed, with what it started elsewhere', async () => {
    const server = await start('node deaf.js')
    assert.ok(left().length >= 2)
    assert.equal(await server.stop(), true)
    assert.deepEqual(left(), [])
  })

  for (const [line, reason, lines] of [
    [
      'echo so; echo it is >&2; exit 7',
      /^it ended with exit code 7$/,
      /^printed: so \| it is$|^printed: it is \| so$/,
    ],
    [
      'cat',
      /^it ended with exit code 0; its standard input is empty: if it waits for that, let the command begin with/,
      /^(?:is not ready yet: it does not listen.*)?$/,
    ],
    ['kill -9 $$', /^it was ended by SIGKILL$/, /^$/],
    [
      `node -e 'require("no-such")'`,
      /^it ended with exit code 1, because it imports what is not there: install or build that; with --git, --build says how$/,
      /^printed: Error: Cannot find module 'no-such' \| Require stack:/,
    ],
    [
      'node taken.js',
      /^it ended with exit code 1, because its port is in use: systems of a race run at the same time/,
      /^printed: Error: listen EADDRINUSE/,
    ],
  ] as const)
    test(`${line}: it says why it is no server, and the person alone is told what it printed`, async () => {
      await assert.rejects(start(line), { message: reason })
      assert.match(said.join(), lines)
      assert.deepEqual(left(), [])
    })

  for (const [name, line, place] of [
    ['only ::1', `node at.js "[Number(process.env.PORT), '::1']"`, /^$/],
    ['a port of its own', `node at.js "[0, '127.0.0.1']"`, /^port \d+$/],
    ['a unix socket', `node at.js "['own.sock']"`, /^a unix socket$/],
    ['its port, long after it has a socket for others', `node socket.js`, /^$/],
  ] as const)
    test(`one that listens on ${name} is reached there`, async () => {
      const { target } = await start(line)
      assert.equal((await ask(target, READY, 60_000)).body.toString(), 'here')
      assert.match(said.join(), place)
    })

  test('one that responds otherwise has the time that it was given, or 8 s from its first response on', async () => {
    await start('node starting.js')
    await assert.rejects(start('node broken.js', null), {
      message:
        /^it responds to GET \/ with status 500, and 2xx was expected .* after [\d.]+ s: see --ready-timeout$/,
    })
    assert.ok(said.includes('responded: "no database"'))
  })

  for (const [line, reason] of [
    [
      'node broken.js',
      /^it responds to GET \/ with status 500, and 2xx was expected \(.*\) after [\d.]+ s, and --max-time leaves/,
    ],
    [
      'node stream.js',
      /^it begins a response to GET \/ and does not end it: a stream cannot be raced, .* after [\d.]+ s, and/,
    ],
  ] as const)
    test(`when time is out, the last thing seen is named: ${line}`, async () => {
      const time = new AbortController()
      const failing = assert.rejects(start(line, 60_000, time.signal), { message: reason })
      while (!said.some((text) => /^is not ready yet: it (?:resp|begins)/.test(text))) await sleep(100)
      time.abort(new DOMException('', 'TimeoutError'))
      await failing
    })

  test('one that speaks HTTPS is told at once', async () => {
    const { key, certificate } = await makeCertificate(directory)
    await assert.rejects(start(`KEY='${key}' CERT='${certificate}' node tls.js`), {
      message: /^it speaks HTTPS, .*: start it without TLS$/,
    })
  })

  test('one that never listens, or does not respond in time', async () => {
    await assert.rejects(start('sleep 600', 300), { message: /^it does not listen after [\d.]+ s/ })
    // Its response comes, but too late.
    await assert.rejects(start('node late.js', 500), {
      message: /respond to GET \/ after [\d.]+ s|listen after [\d.]+ s/,
    })
    assert.deepEqual(left(), [])
  })

  test('one that dies later tells its last lines once', async () => {
    const server = await start('node mortal.js')
    await ask(server.target, { ...READY, path: '/end' }, 60_000).catch(() => {})
    while (server.whyEnded() === undefined) await sleep(20)
    assert.equal(server.whyEnded(), 'it ended with exit code 3')
    assert.deepEqual(said, ['printed: the end'])
  })
})

test('servers get the programs of the person, not those of the package manager that started us', (t) => {
  const place = newDirectory(t)
  const { PATH: path, npm_package_name: name } = process.env
  const [ours = '', theirs = '', cached = ''] = ['ours', 'theirs', '_npx/1'].map((folder) => {
    const directory = join(place, folder, 'node_modules/.bin')
    mkdirSync(directory, { recursive: true })
    return directory
  })
  try {
    symlinkSync(process.execPath, join(ours, 'node'))
    process.env.npm_package_name = 'startgrid'
    process.env.PATH = [ours, cached, '/x/node-gyp-bin', theirs, '/usr/bin'].join(delimiter)
    const environment = personsEnvironment()
    assert.equal(environment.PATH, [theirs, '/usr/bin'].join(delimiter))
    assert.equal(environment.npm_package_name, undefined)
    process.env.PATH = ours
    assert.equal(toolsOf(place), 'neither node nor bun')
  } finally {
    Object.assign(process.env, { PATH: path })
    if (name === undefined) delete process.env.npm_package_name
    else process.env.npm_package_name = name
  }
})

test('what the shell of the person had stays, also where package managers call theirs so', { skip }, () => {
  const program = import.meta.resolve('@startgrid/servers/program.ts')
  const source = `import('${program}').then(({ personsEnvironment: e }) => console.log(JSON.stringify(e())))`
  const added = 'npm_lifecycle_event=bench npm_config_cache=/ours npm_config_registry=theirs'
  const line = `env ${added} "$0" -e "$1"; exit $?`
  const { PATH } = process.env
  const env = { PATH, npm_config_ignore_scripts: 'true', npm_config_registry: 'theirs' }
  const { stdout, stderr } = spawnSync('sh', ['-c', line, process.execPath, source], {
    env,
    encoding: 'utf8',
  })
  const names = Object.keys(JSON.parse(stdout || stderr)).filter((name) => name.startsWith('npm_'))
  assert.deepEqual(names.toSorted(), ['npm_config_ignore_scripts', 'npm_config_registry'])
})

test('what stood before the command is told by its name', { skip }, () => {
  const source = `import('@startgrid/servers/program.ts').then((all) => console.log(all.variablesBefore()))`
  const words = ['-c', 'TOKEN=s3cret "$0" -e "$1"; exit $?', process.execPath, source]
  const options = {
    env: { PATH: process.env.PATH, OTHER: 'x', STARTGRID_DIRECTORY: '/x' },
    encoding: 'utf8',
  } as const
  const typed = `TOKEN=s3cret "${process.execPath}" -e "${source}"`
  for (const [shell, args, input] of [
    ['sh', words, ''],
    ['bash', [], typed], // as in a terminal
  ] as const) {
    const { stdout, stderr } = spawnSync(shell, args, { ...options, input, cwd: import.meta.dirname })
    assert.equal(stdout, 'TOKEN=… \n', stderr)
  }
})

test('servers start in random order, which the seed repeats', async () => {
  const names = ['one', 'two', 'three']
  const running = { running: 'http://127.0.0.1:1' }
  const systems = Object.fromEntries(names.map((title) => [title, { title, ...running }]))
  const cells = names.map((id) => newCell({ id, race: 'race', app: id }))
  const signal = new AbortController().signal
  const guard = new Guard()
  const ordersOf = async (seed: number) => {
    const options = { guard, seed, cores: 1, signal, progress: createProgress(), warn() {} }
    const { start } = await openCommands({ name: 'race', systems, races: {}, claims: [] }, options)
    const orders: string[] = []
    for (let heat = 0; heat < 3; heat++)
      orders.push([...(await start(cells, { signal })).running.keys()].join())
    return orders
  }
  const orders = await ordersOf(1)
  assert.ok(new Set(orders).size > 1)
  assert.deepEqual(await ordersOf(1), orders)
  assert.notDeepEqual(await ordersOf(2), orders)
  await guard.close()
})

test('the addresses of this machine are here, others are not', async () => {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  for (const host of ['127.9.9.9', '::1', 'localhost', ...own.map(({ address }) => address)])
    assert.ok(await isHere({ host, port: 80 }), host)
  assert.ok(await isHere({ socketPath: '/run/app.sock' }))
  for (const host of ['10.255.255.254', 'fd12::1']) assert.ok(!(await isHere({ host, port: 80 })), host)
})

const mail = () => createServer((socket) => socket.on('error', () => {}).end('220 mail.example ESMTP\r\n'))

test('who responds: any status is a response; else why nobody does; after an abort nothing is said', async (t) => {
  const silenceOf = async (server: Server, options?: Parameters<typeof whySilent>[2]) => {
    server.on('connection', (socket) => t.after(() => socket.destroy()))
    const origin = `http://127.0.0.1:${await listen(t, server)}`
    return whySilent(origin, { path: '/raced' }, options)
  }
  const notFound = createHttpServer(({ url }, response) => {
    if (url === '/raced') response.writeHead(404).end()
  })
  assert.equal(await silenceOf(notFound), null)
  assert.equal(await silenceOf(createServer(), { patienceMs: 100 }), 'nothing came in time')
  assert.equal(await silenceOf(mail()), 'what it says is not HTTP/1.1')
  assert.equal(await silenceOf(createServer(), { signal: AbortSignal.abort() }), null)
  assert.equal(await whySilent('http://127.0.0.1:1', READY), 'nobody listens there')
})
