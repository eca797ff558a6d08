import { readFileSync } from 'node:fs'

/**
 * Some firewalls (Docker's, for example) make Linux keep a table of connections. A full table drops packets, on loopback too, and then an
 * app seems not to respond. 262,144 entries are usual, and full runs have filled that: a closed connection stays for 120 s, and fuzz on
 * two apps makes 200,000 in 28 s.
 */

/** More than fuzz creates in 120 s. */
const ENOUGH = 1_000_000

/**
 * What to do before a full run; undefined if the table is large enough, or does not exist.
 * @param root for tests: the directory that contains proc
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
