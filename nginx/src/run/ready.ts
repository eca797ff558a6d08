import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, formatAddress } from '../render/address.ts'
import type { Setup } from './setup.ts'

const LIMIT_MS = 20_000

/**
 * Waits until NGINX has written its pid, which it does when it has bound every port, and responds on each of them.
 * @param runs whether the process is still there
 * @throws {Error} if it ended, or does not respond within 20 s
 */
export async function awaitResponses({ addresses, probe, dir }: Setup, runs: () => boolean): Promise<void> {
  const deadline = Date.now() + LIMIT_MS
  await until(() => Promise.resolve(hasPid(dir)), 'has not started', runs, deadline)
  for (const address of addresses) {
    const what = `does not respond on ${formatAddress(address)}`
    await until(() => responds(address, probe), what, runs, deadline)
  }
}

async function until(
  check: () => Promise<boolean>,
  failure: string,
  runs: () => boolean,
  deadline: number,
): Promise<void> {
  while (!(await check())) {
    if (!runs()) throw new Error('NGINX ended before it served; its error log has the reason.')
    if (Date.now() > deadline) throw new Error(`NGINX ${failure} after ${LIMIT_MS / 1000} s; it was ended.`)
    await sleep(10)
  }
}

function hasPid(dir: string): boolean {
  try {
    return readFileSync(join(dir, 'nginx.pid'), 'utf8').trim() !== ''
  } catch {
    return false
  }
}

/** Whether something responds: an HTTP response to `probe`, or without one an accepted connection. */
function responds({ host, port }: Address, probe: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: reachable(host), port, timeout: 2_000 })
    const settle = (responded: boolean) => {
      socket.destroy()
      resolve(responded)
    }
    socket.once('connect', () => {
      if (probe === undefined) settle(true)
      else socket.write(`GET ${probe} HTTP/1.0\r\nHost: startgrid\r\n\r\n`)
    })
    socket.once('data', () => settle(true))
    for (const failure of ['timeout', 'error', 'close']) socket.once(failure, () => settle(false))
  })
}

/** "Every address" is not one to connect to. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}
