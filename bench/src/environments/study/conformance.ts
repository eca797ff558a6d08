import { oneLine } from '@startgrid/cli/text.ts'
import { checkConformance, ROLES, type Role } from '@startgrid/conformance'
import { APPS } from '@startgrid/grid/matrix.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Study, System } from '../../model/study.ts'
import type { StudyConformance } from '../../model/study-result.ts'
import { startSystem } from './running-system.ts'

/** Equal work first: systems that serve a role of the contract are held to it before they are measured. */

/** Random inputs per check: the fixed ones count, and time is short. */
const RUNS = 3

/** Together, for the suite mostly waits; an interpreted page of 1,000 items then takes seconds. */
const AT_ONCE = 6
const TIMEOUT_MS = 30_000

/** Runs the contract's suite on the systems. After an abort some are missing. */
export async function proveSystems(
  study: Study,
  systems: readonly string[],
  { nginx, signal }: { nginx: Nginx | undefined; signal: AbortSignal },
): Promise<StudyConformance[]> {
  const open = [...systems]
  const records: StudyConformance[] = []
  const proveNext = async (): Promise<void> => {
    for (let name = open.shift(); name !== undefined && !signal.aborted; name = open.shift()) {
      const system = study.systems[name]
      const role = system && roleOf(system)
      const proof = system && role && (await proveSystem(system, role, { nginx, signal }))
      if (proof !== undefined) records.push({ system: name, ...proof })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, proveNext))
  return records
}

/** Undefined for NGINX alone, and for roles that studies add. */
function roleOf({ app }: System): Role | undefined {
  return ROLES.find((role) => role === app?.role)
}

/** @returns undefined after an abort */
async function proveSystem(
  system: System,
  role: Role,
  { nginx, signal }: { nginx: Nginx | undefined; signal: AbortSignal },
): Promise<Omit<StudyConformance, 'system'> | undefined> {
  try {
    const running = await startSystem(system, { nginx, cpus: undefined })
    try {
      const proxied = system.nginx !== undefined || system.app?.package === 'apps/njs'
      const absent =
        APPS.find(({ directory, role: own }) => own === role && directory.endsWith(`/${system.app?.package}`))
          ?.absent ?? []
      const { passed, failed, differences } = await checkConformance({
        target: running.target,
        role,
        absent,
        proxied,
        runs: RUNS,
        timeoutMs: TIMEOUT_MS,
        signal,
      })
      return {
        checked: passed.length + failed.length,
        differences: differences.map(
          ({ check, expected, received }) => `${check}: expected ${expected}, got ${received}`,
        ),
      }
    } finally {
      await running.stop()
    }
  } catch (error) {
    return signal.aborted ? undefined : { checked: 0, differences: [oneLine(error)] }
  }
}
