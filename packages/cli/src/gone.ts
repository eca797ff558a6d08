/** Commands and options that went in November 2026, and what to use now. This table goes in November 2027. */
const GONE: Readonly<Record<string, string>> = {
  'pnpm conformance --docker': 'give role and address of a service: hello http://127.0.0.1:4121',
  'pnpm conformance --kubernetes': 'deploy/kubernetes/bench has a Job that runs any command in the cluster',
  'pnpm conformance --json': 'its text has all that it finds',
  'pnpm eject --no-git': 'eject makes no repository; git init does, in the new directory',
  'pnpm eject --no-lockfile': 'delete package-lock.json if you use another package manager than npm',
  'pnpm eject --yes': 'name the app and the directory, and it asks nothing',
  'pnpm eject --framework': 'name the app: pnpm eject fastify/ssr ../my-app',
  'pnpm eject --role': 'name the app: pnpm eject fastify/ssr ../my-app',
  '--with metrics': 'choose --with telemetry and set OTEL_METRICS_EXPORTER=prometheus',
  '--with bench': 'race pull requests with the action of this repository, action/README.md',
  'pnpm bench --docker': 'docker compose run --rm bench runs the benchmark in a container',
  'pnpm bench --generators': 'pnpm load --processes N offers more load than one core can make',
  'pnpm bench --kubernetes': 'deploy/kubernetes/bench has a Job that runs any command in the cluster',
  'pnpm bench study --kubernetes': 'deploy/kubernetes/bench has a Job that runs any command in the cluster',
  'pnpm bench --resume': 'begin the run again; pnpm bench report DIR reports what was measured',
  'pnpm bench --target': 'pnpm bench race URL measures a server that already runs',
  'pnpm bench compare': 'pnpm bench race --git REF compares this directory with a commit, in pairs',
  'pnpm bench --keep-voided': 'result.json has what was measured of a void cell, and why it is void',
  'pnpm bench --precision': '--max-time 30m takes as many heats as fit; pnpm bench race has --precision',
  'pnpm bench --thorough': '--max-time 30m takes as many heats as fit',
  'pnpm bench capacity': 'pnpm load URL --rate N tells p99 at a rate of your choice',
  'pnpm bench latency': 'pnpm bench --latency measures it in each race',
  'pnpm bench overload': 'pnpm reliability --fault overload tries it',
  'pnpm bench --publish': 'pnpm bench publish DIR stores the figures of a run in docs',
  'pnpm bench report --publish': 'pnpm bench publish DIR stores the figures of a run in docs',
  'pnpm bench study --docs': 'pnpm bench publish DIR stores the figures of a run in docs',
  'pnpm bench grid': 'pnpm bench without a command races the grid',
  'pnpm bench overhead': 'pnpm bench study overhead measures it',
  'pnpm bench --slices': '--max-time 30m takes as many heats as fit',
  'pnpm conformance --manners': 'docs/choosing-a-framework.md says how frameworks differ in that',
  'pnpm conformance --runs': 'the suite sends the same requests every time',
  'pnpm conformance --seed': 'the suite sends the same requests every time',
  'pnpm load --body-file': '--body @FILE sends the bytes of a file',
  'pnpm load --expect-body': 'pnpm bench race compares the responses of two servers, body included',
  'pnpm load --path-file': 'give several URLs, such as those that a shell makes of /hello/{1..1000}',
  'pnpm nginx --certificate': 'pnpm eject --with nginx has an NGINX that takes yours from nginx/tls',
  'pnpm nginx --trust': 'TRUSTED_PROXIES names them for the NGINX of Compose, Kubernetes and eject',
  'pnpm reliability --full': 'pnpm reliability tries every fault on every app',
  'pnpm reliability --list': 'docs/reliability.md says what each fault is',
  'pnpm reliability --resume': 'name the apps and the faults that are left',
  'pnpm bench study --resume': '--all skips what is finished of this commit; else begin the study again',
}

/**
 * What to do instead of something that is gone, as a sentence; undefined if it never was.
 * @param typed a command as a person types it, with the option if it is one, such as `pnpm bench --resume`
 */
export function insteadOf(typed: string): string | undefined {
  const instead = GONE[typed]
  return instead === undefined ? undefined : `${typed} is gone: ${instead}.`
}
