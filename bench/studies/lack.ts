import { spawnSync } from 'node:child_process'

/** Why a program that a probe runs cannot be run: a clause; null if it is installed. */
export function lackOf(program: string): string | null {
  const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' })
  return error === undefined ? null : `${program} is not installed`
}
