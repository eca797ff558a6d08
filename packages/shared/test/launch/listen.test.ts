import { equal, match, ok, rejects } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { readLaunchConfig } from '../../src/launch/config.ts'
import { listen } from '../../src/launch/lifecycle.ts'
import { formatAddress, listenFailure } from '../../src/process/lifecycle.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'startgrid-listen-'))
})
after(() => rm(directory, { recursive: true }))

let server: Server
beforeEach(() => {
  server = createServer((_request, response) => response.end('here'))
})
afterEach(() => server.close())

const on = (env: Record<string, string>) => readLaunchConfig({ PORT: '0', ...env })

async function ask(socketPath: string): Promise<string> {
  const [response]: IncomingMessage[] = await once(get({ socketPath, agent: false }), 'response')
  return response === undefined ? '' : text(response)
}

/** What a killed process leaves behind. */
async function leaveSocket(path: string): Promise<void> {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  await once(spawn(process.execPath, ['-e', script]), 'exit')
  ok(statSync(path).isSocket())
}

test('tells the port that the system picked', async () => {
  const address = await listen(server, on({}))
  match(address, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
  equal(await (await fetch(address)).text(), 'here')
})

test('an IPv6 address has brackets', () => {
  equal(formatAddress('::1', 80), 'http://[::1]:80')
  equal(formatAddress('127.0.0.1', 80), 'http://127.0.0.1:80')
})

test('says that a port is in use', async () => {
  const port = new URL(await listen(server, on({}))).port
  await rejects(listen(createServer(), on({ PORT: port })), {
    name: 'StartError',
    message: `Port ${port} on 127.0.0.1 is in use by another process: stop that, or set PORT to another one (0 picks a free one).`,
  })
})

test('says that a host is not here', async () => {
  // 192.0.2.0/24 is for documentation, .invalid has no addresses.
  for (const host of ['192.0.2.1', 'no-such-host.invalid']) {
    const failure = listen(server, on({ HOST: host })).catch((error: unknown) => error)
    match(
      String(await failure),
      /^StartError: HOST is '(192\.0\.2\.1|no-such-host\.invalid)', but this machine does not have/,
    )
  }
})

test('listens on a unix socket', async () => {
  const path = join(directory, 'new.sock')
  equal(await listen(server, on({ SOCKET: path })), `unix:${path}`)
  equal(await ask(path), 'here')
})

test('takes the place of a process that was killed', async () => {
  const path = join(directory, 'stale.sock')
  await leaveSocket(path)
  await listen(server, on({ SOCKET: path }))
  equal(await ask(path), 'here')
})

test('leaves a socket alone on which a process listens', async () => {
  const path = join(directory, 'live.sock')
  await listen(server, on({ SOCKET: path }))
  await rejects(listen(createServer(), on({ SOCKET: path })), {
    name: 'StartError',
    message: `The socket ${path} is in use by another process: stop that, or set SOCKET to another path.`,
  })
  equal(await ask(path), 'here')
})

test('leaves a file that is no socket alone', async () => {
  const path = join(directory, 'precious.txt')
  await writeFile(path, 'precious')
  await rejects(listen(server, on({ SOCKET: path })), { name: 'StartError' })
  equal(await readFile(path, 'utf8'), 'precious')
  await rejects(listen(server, on({ SOCKET: directory })), { name: 'StartError' })
  ok(existsSync(directory))
})

test('says that the directory of a socket is missing', async () => {
  const path = join(directory, 'missing', 'app.sock')
  await rejects(listen(server, on({ SOCKET: path })), {
    name: 'StartError',
    message: `The directory of ${path} does not exist: make it, or set SOCKET to another path.`,
  })
})

test('says that a place is forbidden', async () => {
  const closed = await mkdtemp(join(directory, 'closed-'))
  await chmod(closed, 0o500)
  const path = join(closed, 'app.sock')
  await withoutRoot(() =>
    rejects(listen(server, on({ SOCKET: path })), {
      name: 'StartError',
      message: `The socket ${path} may not be used by this user: choose another path.`,
    }),
  )
})

/** Root may do everything, so be nobody for a moment. */
async function withoutRoot(act: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return act()
  await chmod(directory, 0o711)
  process.seteuid?.(65_534)
  try {
    await act()
  } finally {
    process.seteuid?.(0)
  }
}

test('has a sentence for every other failure', () => {
  const failure = (code: string) => Object.assign(new Error('bind'), { code })
  const port = on({ PORT: '80' })
  equal(
    listenFailure(failure('EACCES'), port),
    'Port 80 on 127.0.0.1 may not be used by this user: choose a port from 1024 up.',
  )
  equal(listenFailure(failure('EMFILE'), port), 'Port 80 on 127.0.0.1 cannot be used: bind.')
  equal(listenFailure('odd', port), 'Port 80 on 127.0.0.1 cannot be used: odd.')
})
