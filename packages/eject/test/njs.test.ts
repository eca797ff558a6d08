import { deepEqual, doesNotMatch, equal, match, notEqual } from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkConformance, formatReport } from '@startgrid/conformance'
import { APPS } from '@startgrid/grid/apps.ts'
import { claimPort } from '@startgrid/nginx/address.ts'
import { run } from '../src/run.ts'
import { WORKSPACE } from '../src/workspace.ts'
import { runEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'

const NJS_APPS = APPS.filter(({ runtime }) => runtime === 'nginx')

const IMAGE = 'nginx:1.30'
const isThere = spawnSync('docker', ['image', 'inspect', IMAGE], { stdio: 'ignore' }).status === 0

test('its configuration is one file, in which only what the build knows is left open', async () => {
  using directory = temporaryDirectory()
  for (const { name, role } of NJS_APPS) {
    const project = join(directory.path, role)
    equal((await runEject([name, project, '--no-git', '--no-lockfile'])).code, 0)
    const config = readFileSync(join(project, 'nginx.conf.template'), 'utf8')
    doesNotMatch(config, /^\s*include /m)
    const open = Array.from(config.matchAll(/\$\{(\w+)\}/g), ([, placeholder]) => placeholder)
    deepEqual([...new Set(open)].sort(), ['HOST', 'PORT', 'ROOT'])
    match(config, new RegExp(`"app":"${role}"`))
    equal(config.includes('/-/assets/'), role === 'ssr')
    equal(readFileSync(join(project, 'bundle.ts'), 'utf8').includes('REACT_SERVER'), role === 'ssr')
    doesNotMatch(readFileSync(join(project, 'bundle.ts'), 'utf8'), /<\/?page>/)
  }
})

/** In place of an installation: the packages of the app, and those that build the page. */
function linkPackages(project: string): void {
  mkdirSync(join(project, 'node_modules'))
  for (const owner of ['apps/njs', 'packages/shared']) {
    const packages = join(WORKSPACE, owner, 'node_modules')
    for (const name of readdirSync(packages)) {
      const link = join(project, 'node_modules', name)
      if (!existsSync(link)) symlinkSync(join(packages, name), link)
    }
  }
}

/** No page is refused because the machine is busy. */
function neverShed(template: string): void {
  const config = readFileSync(template, 'utf8')
  const changed = config.replace(/(?<=\$max_queue_wait_ms \{\s+default )250;/, '0;')
  notEqual(changed, config)
  writeFileSync(template, changed)
}

// Its engine is the one that a project needs; what distributions have is older.
describe(`full: in the NGINX of ${IMAGE}`, {
  skip: !isThere && `There is no image ${IMAGE}: docker pull ${IMAGE}`,
  concurrency: true,
}, () => {
  for (const { name, role, absent } of NJS_APPS) {
    test(`${name} conforms, and stops with 0`, async () => {
      using directory = temporaryDirectory()
      const project = join(directory.path, 'my-app')
      equal((await runEject([name, project, '--no-git', '--no-lockfile'])).code, 0)
      linkPackages(project)
      if (role === 'ssr') neverShed(join(project, 'nginx.conf.template'))
      const port = await claimPort({ host: '127.0.0.1', port: 0 })
      await run(process.execPath, ['bundle.ts'], {
        cwd: project,
        env: { ...process.env, PORT: String(port) },
      })

      const nginx = await startImage(project, port)
      try {
        const target = { host: '127.0.0.1', port }
        const report = await checkConformance({ target, role, absent })
        deepEqual(
          report.differences,
          [],
          `${formatReport(report)}
${nginx.errors()}`,
        )
      } finally {
        spawnSync('docker', ['kill', '--signal', 'SIGQUIT', nginx.name])
        deepEqual(await nginx.ended, [0, null])
      }
    })
  }
})

/** As `npm start` would, with the image's NGINX on the network of this machine. */
async function startImage(project: string, port: number) {
  for (const name of ['run', 'logs']) mkdirSync(join(project, name))
  const name = `startgrid-njs-${process.pid}-${port}`
  const user = `${process.getuid?.()}:${process.getgid?.()}`
  const args = [
    ...['run', '--rm', '--name', name, '--network', 'host', '--pull', 'never', '--user', user],
    ...['--volume', `${project}:${project}`, '--entrypoint', 'nginx', IMAGE],
    ...['-p', project, '-c', 'dist/nginx.conf', '-e', 'stderr'],
  ]
  const child = spawn('docker', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  /** What is worse than the errors that the suite provokes, such as the end of a worker. */
  const errors = () => log.match(/^.*\[(?:alert|crit|emerg)\].*$/gm)?.join('\n') ?? ''
  while (child.exitCode === null && !(await accepts(port))) await sleep(50)
  return { name, ended, errors }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
