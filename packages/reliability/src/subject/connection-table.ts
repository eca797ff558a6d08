import { readFileSync } from 'node:fs'

/**
 * Where a firewall has Linux keep a table of connections (Docker's does), a full one drops packets, of loopback too: then an app seems
 * not to response. 262,144 is a usual size, and full runs have filled it: a closed connection stays for 120 s, and fuzz, on two apps at a time, makes
 * 200,000 in 28 s.
 */

/** More than 120 s of fuzz make. */
const ENOUGH = 1_000_000

/**
 * What to do before a full run; undefined where the table is large enough, or there is none.
 * @param root for tests: the directory that has proc
 */
export function smallTable(root = ''): string | undefined {
  const places = Number(read(`${root}/proc/sys/net/netfilter/nf_conntrack_max`))
  if (places === 0 || places >= ENOUGH) return undefined
  return (
    `The kernel's table of connections has ${places} places and may fill up; what that disturbs will be undecided. ` +
    `sysctl -w net.netfilter.nf_conntrack_max=${ENOUGH} makes room.`
  )
}

/**
 * Packets that were dropped so far because the table was full; 0 where there is none.
 * @param root for tests: the directory that has proc
 */
export function droppedPackets(root = ''): number {
  const [head = '', ...rows] = read(`${root}/proc/net/stat/nf_conntrack`).trim().split('\n')
  const column = head.split(/\s+/).indexOf('drop')
  // A row per CPU, in hexadecimal.
  return rows.reduce((sum, row) => sum + Number.parseInt(row.split(/\s+/)[column] ?? '0', 16), 0)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
