/** Runs an njs handler in the foreground, as apps/njs does: `node njs-server.ts CHOICE` prints its port, then its log. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsEngine, loadModule, requireNginx } from '../../src/find/find.ts'
import { claimPort } from '../../src/render/address.ts'
import { renderMain, renderTemporaryPaths } from '../../src/render/render.ts'
import { startNginx } from '../../src/run/instance.ts'
import { standardOutput } from '../../src/run/launch.ts'

const nginx = await requireNginx({ download: false })
const scripts = await mkdtemp(join(tmpdir(), 'startgrid-njs-'))
await writeFile(join(scripts, 'who.js'), 'export default { who(r) { r.return(200, njs.version) } }\n')
const address = { host: '127.0.0.1', port: await claimPort({ host: '127.0.0.1', port: 0 }) }

const instance = await startNginx(nginx, {
  listen: [address],
  output: 'inherit',
  config: (main) =>
    [
      loadModule(nginx),
      renderMain(main),
      'http {',
      renderTemporaryPaths(main.dir),
      jsEngine(nginx),
      `js_import who from "${join(scripts, 'who.js')}";`,
      `log_format short '{"url":"$request_uri","status":$status}';`,
      `access_log "${standardOutput(main)}" short;`,
      `server { listen ${address.host}:${address.port}; location / { js_content who.who; } }`,
      '}',
    ].join('\n'),
})

process.once('SIGTERM', async () => {
  await instance.stop()
  await rm(scripts, { recursive: true })
})
// Said last: who reads it may send SIGTERM at once.
console.log(String(address.port)) // a number would have colours under FORCE_COLOR
