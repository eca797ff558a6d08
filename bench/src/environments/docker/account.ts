import { readFileSync } from 'node:fs'
import { compareSamples, type Sample, takeSample } from '@startgrid/machine/accounts/sample.ts'
import { processTree } from '@startgrid/machine/processes.ts'
import type { GeneratorAccounts } from '../../drivers/driver.ts'
import type { Settings } from '../../model/settings.ts'
import type { Account, EndAccount } from '../environment.ts'
import { runDocker } from './command.ts'
import type { Engine, Stats } from './engine.ts'

/**
 * CPU time comes from the containers' control groups through the Engine API, which works with every engine, also in the virtual machine
 * of Docker Desktop (2 ms per container, before and after a slice, never during it). Who else used a core only this machine's own kernel can say,
 * of processes that it sees: with an engine in a virtual machine that is not known.
 */

export interface ContainerProcesses {
  /** Name or id. */
  container: string
  /** As this machine numbers them; undefined if it does not see them. */
  pids: readonly number[] | undefined
}

export interface Subject {
  app: ContainerProcesses
  /** Null if there is none in front. */
  proxy: ContainerProcesses | null
  generator: ContainerProcesses
  cores: Settings['cores']
}

/** What control groups and kernel said at one time. CPU is in seconds; null if the container has ended. */
export interface Reading {
  app: number | null
  proxy: number | null
  generator: number | null
  kernel: Sample
}

/** To read containers costs the engine CPU. The kernel is asked last before the load and first after it, so its account does not have that. */
export async function beginContainerAccount(engine: Engine, subject: Subject): Promise<EndAccount> {
  const used = await readGroups(engine, subject)
  const before = { ...used, kernel: sampleKernel(subject) }
  return async () => {
    const kernel = sampleKernel(subject)
    const after = { ...(await readGroups(engine, subject)), kernel }
    return (own) => compareReadings(before, after, own)
  }
}

/** @param own what the load says of its generator, where the kernel says nothing */
export function compareReadings(before: Reading, after: Reading, own: GeneratorAccounts): Account {
  const { disturbance } = compareSamples(before.kernel, after.kernel, own)
  const [app, proxy] = [difference(before.app, after.app), difference(before.proxy, after.proxy)]
  // Interrupts that are in nobody's account: see `accounting/interrupts.ts`.
  const interrupts = (after.kernel.interrupts - before.kernel.interrupts) / ((app ?? 0) + (proxy ?? 0) || 1)
  return {
    cpuSeconds: {
      app: app && app * (1 + interrupts),
      proxy: proxy && proxy * (1 + interrupts),
      generator: difference(before.generator, after.generator),
    },
    disturbance,
  }
}

function difference(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : Math.max(0, after - before)
}

async function readGroups(
  engine: Engine,
  { app, proxy, generator }: Subject,
): Promise<Omit<Reading, 'kernel'>> {
  const read = ({ container }: ContainerProcesses) => engine.stats(container).then(cpuSecondsOf, () => null)
  const [ofApp, ofProxy, ofGenerator] = await Promise.all([
    read(app),
    proxy === null ? 0 : read(proxy),
    read(generator),
  ])
  return { app: ofApp, proxy: ofProxy, generator: ofGenerator }
}

/** @returns null of a container that does not run: its group is gone */
export function cpuSecondsOf({ cpu_stats }: Stats): number | null {
  const nanoseconds = cpu_stats.cpu_usage.total_usage
  return nanoseconds > 0 ? nanoseconds / 1e9 : null
}

function sampleKernel({ app, proxy, generator, cores }: Subject): Sample {
  const isVisible = app.pids !== undefined && generator.pids !== undefined
  return takeSample({
    app: app.pids,
    proxy: proxy?.pids ?? [],
    generator: generator.pids ?? [],
    cores: isVisible ? cores : null,
  })
}

/**
 * The processes of a container, if this machine's kernel runs them and lets us see them.
 * @param pid of its first process, as the engine numbers it: in a virtual machine it is somebody else's here
 */
export function visibleProcesses(id: string, pid: number): number[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'latin1').includes(id) ? processTree(pid) : undefined
  } catch {
    return undefined
  }
}

/**
 * Highest resident memory so far of the processes that serve in a container, as natively. The control group's own peak would count what
 * its healthcheck used too: a second Node.
 * @returns bytes; null if the container has ended, or has no shell
 */
export async function peakMemoryIn(container: string): Promise<number | null> {
  const { code, stdout } = await runDocker(['exec', container, 'sh', '-c', 'cat /proc/[0-9]*/status'])
  // `cat` fails if one of them ended meanwhile, but has shown the others.
  return code === 0 || code === 1 ? sumPeaks(stdout) : null
}

interface Process {
  pid: number
  parent: number
  bytes: number
}

/**
 * Adds up what is below process 1, which is Docker's init. What `docker exec` runs has its parent outside.
 * @param statuses of all processes (https://docs.kernel.org/filesystems/proc.html)
 * @returns bytes; null if nothing serves
 */
export function sumPeaks(statuses: string): number | null {
  const processes = statuses.split(/^(?=Name:)/m).map(parseStatus)
  const serving = new Set([1])
  let bytes = 0
  for (const { pid, parent, bytes: own } of processes.toSorted((a, b) => a.pid - b.pid)) {
    if (!serving.has(parent)) continue
    serving.add(pid)
    bytes += own
  }
  return bytes > 0 ? bytes : null
}

function parseStatus(status: string): Process {
  const numberOf = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return { pid: numberOf('Pid'), parent: numberOf('PPid'), bytes: numberOf('VmHWM') * 1024 }
}
