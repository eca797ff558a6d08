import { formatPercent } from '@startgrid/cli/numbers.ts'
import type { GateResult } from '../../model/figures.ts'
import { type Evidence, failed, notMeant, passed, unknown } from './evidence.ts'

/**
 * Drivers measure a latency from their own view of send and receipt and count what is in flight at the ends differently; a
 * lost response, an idle connection or a wrong clock shows as more than this.
 */
const WITHIN = 0.1

/**
 * Little's law: what is in flight = rate × mean latency (J. D. C. Little, A Proof for the Queuing Formula L = λW, 1961). In a closed loop
 * with one request in flight on each connection that is the number of connections. Startgrid's own generator is tested for it.
 */
export function judgeLittlesLaw({
  cell,
  counted,
  driver,
}: Pick<Evidence, 'cell' | 'counted' | 'driver'>): GateResult {
  if (driver.name === 'startgrid')
    return notMeant('littles-law', "only for other generators: the tests of Startgrid's own check it")
  const slices = counted.flat()
  const seconds = slices.reduce((sum, slice) => sum + slice.seconds, 0)
  if (seconds === 0) return unknown('littles-law', 'nothing was measured')
  const inFlight =
    slices.reduce((sum, { requests, meanLatency }) => sum + requests * meanLatency, 0) / seconds
  const finding = `rate × mean latency is ${inFlight.toFixed(1)} requests in flight on ${cell.connections} connections`
  if (Math.abs(inFlight / cell.connections - 1) <= WITHIN) return passed('littles-law', finding)
  return failed(
    'littles-law',
    `${finding}, more than ${formatPercent(WITHIN)} apart`,
    `${driver.name} lost requests or measured wrong times: trust no figure of it.`,
  )
}
