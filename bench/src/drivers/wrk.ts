import { fileURLToPath } from 'node:url'
import {
  type Capabilities,
  type Driver,
  occurred,
  rateOf,
  type SliceLoad,
  type SlicePlan,
  urlFor,
} from './driver.ts'
import { ForeignDriver, pinned } from './foreign-driver.ts'
import { WrkProcess } from './wrk-process.ts'
import { parseWrk } from './wrk-report.ts'

const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url))

/**
 * wrk (https://github.com/wg/wrk): one thread, a process per load. It can be told whole seconds only, but an interruption ends it with all
 * that it measured, at the next tenth of a second: so it is given more time than the slice has, and interrupted.
 *
 * It drops the requests in flight at the end, which is why a slice must be long; and a request that never gets a response shows
 * nowhere but in Little's law.
 */
export class WrkDriver extends ForeignDriver implements Driver {
  readonly name = 'wrk'
  readonly capabilities: Capabilities = {
    openLoop: false,
    unixSockets: false,
    checks: 'before',
    minSliceMs: 500,
    warmupMs: 0,
  }
  #running: WrkProcess | undefined

  pids(): number[] {
    return []
  }

  async run(plan: SlicePlan): Promise<SliceLoad> {
    const wrk = new WrkProcess(pinned(wrkCommand(plan), this.cpu), plan)
    this.#running = wrk
    const output = await wrk.output()
    const { requests, seconds, cpuSeconds, errors, latencySeconds } = parseWrk(output, plan.connections)
    return {
      requests,
      seconds,
      rate: rateOf({ requests, seconds }),
      checked: 0,
      errors: occurred(errors),
      latencySeconds,
      generator: { cpuSeconds, waitSeconds: wrk.waitSeconds },
    }
  }

  override async stop(): Promise<void> {
    this.#running?.kill()
    await super.stop()
  }
}

function wrkCommand(plan: SlicePlan): [string, ...string[]] {
  const { connections, durationMs, timeoutMs = 5000 } = plan
  const seconds = Math.ceil(durationMs / 1000) + 1
  const timeout = Math.ceil(timeoutMs / 1000)
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', `${timeout}s`, '-s', SCRIPT]
  return ['wrk', ...options, urlFor('wrk', plan)]
}
