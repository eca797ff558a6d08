import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Builds what commands need before they start: the page, and the apps inside NGINX. It prints nothing, unless the build fails. */

const { status, stdout, stderr, error } = spawnSync('turbo', ['run', 'build', '--output-logs=errors-only'], {
  cwd: fileURLToPath(new URL('../', import.meta.url)),
  env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
  encoding: 'utf8',
})
if (error) throw error
if (status !== 0) process.stderr.write(`${stdout}${stderr}The build failed: see above.\n`)
process.exitCode = status ?? 1
