import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Why npm failed, by directory. It is asked once, because it takes long to find no network. */
const failed = new Map<string, string>()

const INSTALL = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1']
/** A copy of the lockfile, written last: what was interrupted is installed again, and what has another lockfile now. */
const INSTALLED = 'node_modules/.installed-lock.json'
/** 360 MB took two minutes on a machine with other work. */
const INSTALL_MS = 600_000

/**
 * Versions that nobody should serve with have a lockfile of their own, and only their study installs them.
 * @param runtime a package with a runtime that must be there for this machine, such as `node20`; absent: none
 * @param download whether they may be installed
 * @returns why they cannot be used here: a clause; null if they can
 */
export function whyNotInstalled(
  directory: string,
  runtime: string | undefined,
  download: boolean,
): string | null {
  const installed = join(directory, INSTALLED)
  const isInstalled =
    existsSync(installed) &&
    readFileSync(installed).equals(readFileSync(join(directory, 'package-lock.json')))
  const reason = isInstalled ? undefined : download ? install(directory) : 'that would be a download'
  if (reason !== undefined) return `the versions that it compares are not installed: ${reason}`
  const hasRuntime = runtime === undefined || existsSync(join(directory, 'node_modules', runtime))
  return hasRuntime ? null : `there is no ${runtime} for this machine`
}

function install(directory: string): string | undefined {
  const known = failed.get(directory)
  if (known !== undefined) return known
  const options = { cwd: directory, encoding: 'utf8', timeout: INSTALL_MS } as const
  const { status, stderr, error } = spawnSync('npm', INSTALL, options)
  if (status === 0) {
    copyFileSync(join(directory, 'package-lock.json'), join(directory, INSTALLED))
    return undefined
  }
  const { code = /^npm error code (\S+)$/m.exec(stderr ?? '')?.[1] } = (error ?? {}) as NodeJS.ErrnoException
  const reason = `npm failed (${code ?? `exit code ${status}`})`
  failed.set(directory, reason)
  return reason
}
