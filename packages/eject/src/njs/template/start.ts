/** Runs the service in this machine's NGINX, in the foreground, until a stop signal: `npm start`. */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { ARGUMENTS, checkNginx, DRAINING } from './nginx.ts'

try {
  checkNginx()
  rmSync(DRAINING, { force: true }) // from before the last stop
  run()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}

/** SIGQUIT lets NGINX finish its responses. A second signal ends it at once. */
function run(): void {
  const nginx = spawn('nginx', ARGUMENTS, { stdio: 'inherit' })
  let told = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      nginx.kill(told ? 'SIGTERM' : 'SIGQUIT')
      told = true
    })
  }
  nginx.once('exit', (code) => {
    process.exitCode = code ?? 1
  })
}
