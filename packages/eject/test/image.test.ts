import { equal, match, ok } from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startProgram } from '@startgrid/cli/test-programs.ts'
import { checkConformance, formatReport } from '@startgrid/conformance/runner.ts'
import { findApps } from '@startgrid/grid/apps.ts'
import { claimPort } from '@startgrid/nginx/address.ts'
import { APPS } from '../src/choices.ts'
import { ASKING, ProjectDirectory } from './support.ts'

/** The image of a project, with the packages of its recipes, in Docker Compose: an app per framework, one of them behind NGINX. */

const cases: Record<string, string[]> = {
  ...Object.fromEntries(APPS.filter(({ role }) => role === 'ssr').map(({ name }) => [name, []])),
  'express/ssr': ['nginx'],
  'express/hello': [],
  'njs/hello': [],
}
const askInJavaScript = "fetch('http://[::1]:3000/readyz').then((r) => process.exit(r.ok ? 0 : 1))"
/** IPv4 is asked by the suite. */
const ASK_BY_IPV6 = {
  node: ['node', '--eval', askInJavaScript],
  bun: ['bun', '--eval', askInJavaScript],
  nginx: ['curl', '--fail', 'http://[::1]:3000/readyz'],
}
const run = (words: readonly string[], options = {}) => startProgram('docker', words, options).ended

for (const [name, options] of Object.entries(cases)) {
  const [app] = APPS.filter((one) => one.name === name)
  ok(app)
  test(`full: the image of ${name}`, { timeout: 600_000 }, async (t) => {
    using project = new ProjectDirectory()
    await project.eject(name, options)
    const { path } = project
    const texts = ['Dockerfile', ...(options.length > 0 ? ['compose.override.yaml'] : [])]
    for (const text of texts.map((file) => readFileSync(join(path, file), 'utf8')))
      for (const [, image = ''] of text.matchAll(/(?:^FROM|image:) (\S+)/gm))
        if ((await run(['image', 'inspect', image])).code !== 0)
          return t.skip(`There is no image ${image}: docker pull ${image}`)
    await project.addRecipes(app)
    const isBehind = options.includes('nginx')
    const ports = await Promise.all([0, 0, 0].map((port) => claimPort({ host: '127.0.0.1', port })))
    const [PORT = 0, NGINX_PORT = 0, NGINX_TLS_PORT = 0] = ports
    writeFileSync(join(path, '.env'), 'MAX_QUEUE_WAIT_MS=0\n') // no page is refused because the machine is busy
    const config = join(path, 'conf/nginx.conf')
    if (app.runtime === 'nginx') {
      const text = readFileSync(config, 'utf8')
      writeFileSync(config, text.replace('max_queue_wait_ms 250', 'max_queue_wait_ms 0'))
    }
    const compose = async (...words: string[]) => {
      const own = { ...process.env, PORT, NGINX_PORT, NGINX_TLS_PORT }
      const { code, stdout, stderr } = await run(['compose', ...words], { cwd: path, env: own })
      equal(code, 0, stderr)
      return stdout
    }
    try {
      await compose('up', '--build', '--wait')
      await compose('exec', '-T', 'app', ...ASK_BY_IPV6[app.runtime])
      if (isBehind) await compose('exec', '-T', 'nginx', 'curl', '--fail', 'http://[::1]:8080/readyz')
      const [{ absent = [], role = 'hello' } = {}] = findApps(name)
      const target = { host: '127.0.0.1', port: isBehind ? NGINX_PORT : PORT }
      const report = await checkConformance({ target, role, absent, compressed: isBehind })
      equal(report.differences.length, 0, formatReport(report))
      if (app.runtime !== 'nginx' && app.role === 'ssr') {
        // The image has no tests, and they need a place for files.
        const mounts = ['test', 'shared/testing'].map((folder) => `${path}/${folder}:/app/${folder}:ro`)
        const volumes = [...mounts, '/tmp', '/app/public'].map((volume) => `--volume=${volume}`)
        await compose('run', '--rm', '--no-deps', '--user=root', ...volumes, 'app', ...ASKING[app.runtime])
      }
      await compose('stop')
      match(await compose('ps', '--all', '--format', '{{.ExitCode}}'), /^(?:0\n)+$/)
    } finally {
      await compose('down', '--rmi', 'local')
    }
  })
}
