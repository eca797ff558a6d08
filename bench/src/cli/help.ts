import { CAPABILITIES } from '@startgrid/conformance'
import { FRAMEWORKS, ROLES, TOPOLOGIES } from '@startgrid/grid/apps.ts'

/** Which cells: the same for all commands that measure the grid. @param topology the default */
export function cellsHelp(topology: string): string {
  return `  --only NAMES        frameworks, apps or roles, with commas: fastify,koa/ssr
  --role NAMES        ${ROLES.join(', ')}
  --topology NAMES    ${TOPOLOGIES.join(', ')};
                      default ${topology}
  --docker            measures the services of Compose, from a container
  --kubernetes        measures pods of a cluster, from pods on other nodes
  --context NAME, --namespace NAME
                      of the kubeconfig; where the pods are (startgrid)
  --server-node SELECTOR, --generator-node SELECTOR
                      the name of a node, or labels of nodes: pool=bench
  --generators N      pods that offer each load together (default 1)
  --target URL        measures an app that already runs, with the workload of
                      its --role: http://10.0.0.9:3000
  --without NAMES     what that app lacks: ${CAPABILITIES.join(', ')}`
}

/** Where results go: the same for every command that measures. */
export const OUTPUT_HELP = `  --json FILE         writes the result there too, - for standard output
  --output DIR        default bench/results/<time>
  --no-download       does not fetch NGINX if this machine has none
  --help`

/** What `pnpm bench --help` prints. */
export const HELP = `pnpm bench [options]   races every app, directly and behind NGINX (5 minutes)
pnpm bench COMMAND     each has its own --help

  race CMD CMD        servers of your own: is the second one slower?
  capacity            the highest rate that keeps p99 under a bound
  latency             percentiles at fixed rates, from the intended send time
  overload            what is left at twice the capacity, and the recovery
  study NAME          a published claim, or a question of ours (overhead,
                      selfcheck), tested here; --list shows them
  compare A B         two results: faster, slower, or no difference shown
  report RESULT       makes the reports of a result again
  check-instrument    is the load generator right on this machine?

${cellsHelp('direct,nginx')}
  --quick             hello and ssr of three frameworks, 2 heats of 5 passes: a
                      minute
  --thorough          12 heats of 24 passes, 3 s of warm-up, half an hour
  --heats N           starts of every app, 1 to 100 (default 3; of a target
                      10, with a rest of 2 s between them)
  --slices N          passes per heat, each one slice of every cell: 1 to 50
                      (default 19)
  --slice T           length of a slice: 200ms, 1s (default 50ms; of a
                      target 500ms)
  --warmup T          discarded after a start (default 250ms to 1.5s, by
                      framework and role; of a target 1.5s)
  --precision P       adds heats, from 6 on, until 95 % intervals are within
                      plus or minus P: 3%
  --require P         exit code 1 if a rate ratio is less certain than that
  --max-time T        as many heats as fit, at least 2: 90s, 10m. It covers all
                      but the first proof of equality
  --connections N     kept open, 1 to 10000 (default 64; ssr 8)
  --seed N            repeats an order
  --resume [RESULT]   goes on with a run, or adds heats to one that is complete
                      (default: the newest)
  --keep-voided       shows numbers that failed a gate, marked
  --list, --dry-run   prints the cells; the plan and the time it takes
${OUTPUT_HELP}

Frameworks: ${FRAMEWORKS.join(', ')}
`
