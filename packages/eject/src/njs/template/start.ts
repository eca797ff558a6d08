/** Runs the service in the NGINX of this machine, in the foreground, until it is told to stop: `npm start`. */
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

/** SIGQUIT lets NGINX finish what it is answering; on a second signal it ends at once. */
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
