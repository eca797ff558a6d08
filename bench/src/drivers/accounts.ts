import { cpuSeconds, waitSeconds } from '@startgrid/machine/processes.ts'
import type { GeneratorAccounts } from './driver.ts'

/** What a process that lives longer than `work` used while it ran. */
export async function accountFor<Value>(
  pid: number,
  work: () => Promise<Value>,
): Promise<{ value: Value; accounts: GeneratorAccounts }> {
  const before = { cpu: cpuSeconds([pid]), wait: waitSeconds([pid]) }
  const value = await work()
  const accounts = {
    cpuSeconds: since(before.cpu, cpuSeconds([pid])),
    waitSeconds: since(before.wait, waitSeconds([pid])),
  }
  return { value, accounts }
}

function since(before: number | undefined, after: number | undefined): number | null {
  return before === undefined || after === undefined ? null : after - before
}
