import { readFileSync } from 'node:fs'

/**
 * TCP connections that this machine accepted so far (PassiveOpens of RFC 4022, in /proc/net/snmp): with NGINX in front, each
 * connection to the app is one. Those of other programs count as well.
 * @returns undefined where the system does not tell
 */
export function acceptedConnections(path = '/proc/net/snmp'): number | undefined {
  try {
    const [names, values] = readFileSync(path, 'latin1')
      .split('\n')
      .filter((line) => line.startsWith('Tcp:'))
      .map((line) => line.trim().split(' '))
    const column = names?.indexOf('PassiveOpens') ?? -1
    const value = values?.[column]
    return column < 0 || value === undefined ? undefined : Number(value)
  } catch {
    return undefined
  }
}
