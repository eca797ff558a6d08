/** Commands and options that went in November 2026 and that somebody may still type, and what to use now. This table goes in November 2027. */
const GONE: Readonly<Record<string, string>> = {
  'pnpm conformance --kubernetes': 'deploy/kubernetes/bench has a Job that runs any command in the cluster',
  'pnpm eject --no-git': 'eject makes no repository; git init does, in the new directory',
  'pnpm eject --framework': 'name the app: pnpm eject fastify/ssr ../my-app',
  '--with metrics': 'choose --with telemetry and set OTEL_METRICS_EXPORTER=prometheus',
  'pnpm bench --docker': 'docker compose run --rm bench runs the benchmark in a container',
  'pnpm bench --no-download': 'nothing is downloaded',
  'pnpm bench --resume': 'begin the run again; pnpm bench report DIR reports what was measured',
  'pnpm bench --target': 'pnpm bench race URL measures a server that already runs',
  'pnpm bench compare': 'pnpm bench race --git REF compares this directory with a commit, in pairs',
  'pnpm bench --precision': '--max-time 30m takes as many heats as fit',
  'pnpm bench --publish': 'pnpm bench publish DIR stores the figures of a run in docs',
  'pnpm reliability --full': 'pnpm reliability tries every fault on every app',
  'pnpm bench study --resume': 'begin the study again; what was finished of several is in its directory',
  'race --precision': '--within 1% ends when a difference is shown, or that there is none of 1 %',
  'race --fail-on-regression': '--within 3% --fail-if-slower fails if one is slower by more than 3 %',
}

/**
 * What to do instead of something that is gone, as a sentence; undefined if it never was.
 * @param typed a command as a person types it, with the option if it is one, such as `pnpm bench --resume`
 */
export function insteadOf(typed: string): string | undefined {
  const instead = GONE[typed] ?? GONE[typed.replace(/^(?:pnpm bench|startgrid) /, '')]
  return instead === undefined ? undefined : `${typed} is gone: ${instead}.`
}
