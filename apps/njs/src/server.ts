import { readLaunchConfig } from '#shared/launch/config.ts'
import { requireRole } from '#shared/launch/lifecycle.ts'
import { StartError } from '#shared/process/config.ts'
import { startApp } from '../runner/app.ts'
import { nextSignal, runToEnd } from '../runner/lifecycle.ts'
import { ROLES } from '../runner/nginx-config.ts'
import { readNjsConfig } from '../runner/njs-config.ts'

const signal = nextSignal()
try {
  const config = readLaunchConfig(process.env)
  const njsConfig = readNjsConfig(process.env)
  const role = requireRole(ROLES, process.argv[2])
  const app = await startApp(role, config, process.env.TRUST_PROXY ?? '', njsConfig)
  const { version, njs } = app.instance.nginx
  const started = { address: app.address, engine: njs?.engine, nginx: version, msg: 'listening' }
  const line = { level: 30, time: Date.now(), app: `njs/${role}`, pid: process.pid, ...started }
  process.stdout.write(`${JSON.stringify(line)}\n`)
  process.exit(await runToEnd(app, config, signal))
} catch (error) {
  if (!(error instanceof StartError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
